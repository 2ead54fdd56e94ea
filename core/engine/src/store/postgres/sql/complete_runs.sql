UPDATE ojs_runs r SET state = 4, worker = 0, pos = $1, finished_at = $1
FROM generate_subscripts($2::bigint[], 1) i
WHERE r.seq = ($2::bigint[])[i] AND r.state = 3 AND r.lease = ($3::bigint[])[i]
