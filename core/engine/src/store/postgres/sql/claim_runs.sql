-- Numbers are in order, so width_bucket gives the place of each. Without a join the rows are found by their numbers, whatever the planner expects.
UPDATE ojs_runs SET state = 3, started_at = $2, expires_at = 0,
  attempt = ($3::bigint[])[width_bucket(seq, $1::bigint[])],
  lease = ($4::bigint[])[width_bucket(seq, $1::bigint[])],
  filed = ($4::bigint[])[width_bucket(seq, $1::bigint[])],
  worker = ($5::bigint[])[width_bucket(seq, $1::bigint[])],
  pos = ($6::bigint[])[width_bucket(seq, $1::bigint[])],
  lease_ms = ($7::bigint[])[width_bucket(seq, $1::bigint[])],
  lease_until = ($8::bigint[])[width_bucket(seq, $1::bigint[])],
  deadline = ($9::bigint[])[width_bucket(seq, $1::bigint[])]
WHERE seq = ANY ($1) AND state = 1 AND lease = ($10::bigint[])[width_bucket(seq, $1::bigint[])]
