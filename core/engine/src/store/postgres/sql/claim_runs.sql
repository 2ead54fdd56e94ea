UPDATE ojs_runs r SET state = 3, started_at = $2, expires_at = 0, attempt = ($3::bigint[])[i], lease = ($4::bigint[])[i], filed = ($4::bigint[])[i],
  worker = ($5::bigint[])[i], pos = ($6::bigint[])[i], lease_ms = ($7::bigint[])[i], lease_until = ($8::bigint[])[i], deadline = ($9::bigint[])[i]
FROM generate_subscripts($1::bigint[], 1) i
WHERE r.seq = ($1::bigint[])[i] AND r.state = 1 AND r.lease = ($10::bigint[])[i]
