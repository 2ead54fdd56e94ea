SELECT r.seq, r.id, r.queue, r.kind, r.state, r.nprio, r.attempt, r.releases, r.max_attempts, r.flags, r.pos, r.lease, r.worker,
       r.lease_ms, r.lease_until, r.deadline, r.created_at, r.enqueued_at, r.started_at, r.finished_at, r.activated_at, r.expires_at,
       r.retry_delay, r.workflow, r.step, r.limited
FROM ojs_jobs j JOIN ojs_runs r ON r.seq = j.seq WHERE j.id = ANY ($1)
ORDER BY r.seq FOR UPDATE OF r
