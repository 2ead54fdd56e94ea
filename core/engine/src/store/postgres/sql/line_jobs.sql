WITH looked AS MATERIALIZED (
  SELECT seq, kind FROM ojs_runs
  WHERE place = 1 AND queue = $1 AND nprio < 500 AND (nprio, line) > ($2, $3)
  ORDER BY nprio, line LIMIT $4
)
SELECT r.seq, r.id, r.queue, r.kind, r.state, r.nprio, r.attempt, r.releases, r.max_attempts, r.flags, r.pos, r.lease, r.worker,
       r.lease_ms, r.lease_until, r.deadline, r.created_at, r.enqueued_at, r.started_at, r.finished_at, r.activated_at, r.expires_at,
       r.retry_delay, r.workflow, r.step, r.limited,
       j.body, j.retry, j.timeout_ms, j.grace_ms, j.visibility_ms
FROM ojs_runs r JOIN ojs_jobs j ON j.seq = r.seq
WHERE r.seq IN (SELECT seq FROM looked WHERE kind = ANY($5)) AND r.place = 1
ORDER BY r.nprio, r.line LIMIT $6
FOR UPDATE OF r SKIP LOCKED
