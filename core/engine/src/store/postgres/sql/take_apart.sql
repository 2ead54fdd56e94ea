WITH due AS (
  DELETE FROM ojs_claims WHERE num = ANY (ARRAY (SELECT num FROM ojs_claims WHERE until <= $1 ORDER BY until LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING seqs
), held AS (
  -- In the order in which all writers lock rows.
  SELECT seq FROM ojs_runs WHERE seq IN (SELECT unnest(seqs) FROM due) AND state = 3 AND filed = lease ORDER BY seq FOR UPDATE
)
UPDATE ojs_runs r SET filed = 0 FROM held WHERE r.seq = held.seq AND r.state = 3
