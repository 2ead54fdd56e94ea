SELECT r.seq, r.id, r.queue, r.kind, r.state, r.nprio, r.attempt, r.releases, r.max_attempts, r.flags, r.pos, r.lease, r.worker, r.lease_ms, r.lease_until, r.deadline, r.created_at, r.enqueued_at, r.started_at, r.finished_at, r.activated_at, r.expires_at, r.retry_delay, r.workflow, r.step, r.limited,
       coalesce(h.errors, ''), coalesce(h.result, '')
FROM ojs_jobs j JOIN ojs_runs r ON r.seq = j.seq LEFT JOIN ojs_histories h ON h.seq = r.seq
WHERE j.id = ANY ($1)
