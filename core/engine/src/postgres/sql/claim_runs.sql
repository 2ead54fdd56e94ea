WITH filed AS (INSERT INTO ojs_claims (until, seqs) VALUES ($1, $2))
UPDATE ojs_runs r SET state = 3, started_at = $3, expires_at = 0, attempt = ($4::bigint[])[i], lease = ($5::bigint[])[i], filed = ($5::bigint[])[i],
  worker = ($6::bigint[])[i], pos = ($7::bigint[])[i], lease_ms = ($8::bigint[])[i], lease_until = ($9::bigint[])[i], deadline = ($10::bigint[])[i]
FROM generate_subscripts($2::bigint[], 1) i
WHERE r.seq = ($2::bigint[])[i] AND r.state = 1 AND r.lease = ($11::bigint[])[i]
