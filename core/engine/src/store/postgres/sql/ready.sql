SELECT r.seq, r.id, r.queue, r.kind, r.state, r.nprio, r.attempt, r.releases, r.max_attempts, r.flags, r.pos, r.lease, r.worker,
       r.lease_ms, r.lease_until, r.deadline, r.created_at, r.enqueued_at, r.started_at, r.finished_at, r.activated_at, r.expires_at,
       r.retry_delay, r.workflow, r.step, r.limited,
       j.body, j.retry, j.timeout_ms, j.grace_ms, j.visibility_ms
FROM ojs_runs r JOIN ojs_jobs j ON j.seq = r.seq
WHERE r.place = 1 AND r.queue = $1 AND r.nprio < 500
  AND (r.nprio, r.line) > (CASE WHEN EXISTS (SELECT 1 FROM ojs_runs h WHERE h.place = 1 AND h.queue = $1 AND h.nprio < $3) THEN -32768 ELSE $3 END, $4)
ORDER BY r.nprio, r.line LIMIT $2
FOR UPDATE OF r SKIP LOCKED
