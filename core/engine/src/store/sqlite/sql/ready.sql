SELECT jobs.seq, jobs.id, jobs.queue, jobs.kind, jobs.state, jobs.nprio, jobs.pos, jobs.attempt, jobs.releases, jobs.max_attempts, jobs.lease, jobs.worker, jobs.lease_ms, jobs.lease_until, jobs.deadline, jobs.created_at, jobs.enqueued_at, jobs.started_at, jobs.finished_at, jobs.activated_at, jobs.expires_at, jobs.retry_delay, jobs.flags, jobs.workflow, jobs.step, jobs.limited,
       body, retry, timeout_ms, grace_ms, visibility_ms
FROM jobs JOIN bodies ON bodies.seq = jobs.seq
WHERE jobs.state = 1 AND jobs.queue = ?1 AND jobs.nprio < 500
ORDER BY jobs.nprio, jobs.pos
LIMIT ?2
