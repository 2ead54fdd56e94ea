UPDATE ojs_runs SET state = 4, worker = 0, pos = $1, finished_at = $1
WHERE seq = ANY ($2) AND state = 3 AND lease = ($3::bigint[])[width_bucket(seq, $2::bigint[])]
