SELECT seq, id, queue, kind, state, nprio, attempt, releases, max_attempts, flags, pos, lease, worker, lease_ms, lease_until, deadline,
       created_at, enqueued_at, started_at, finished_at, activated_at, expires_at, retry_delay, workflow, step, limited
FROM ojs_runs WHERE place = 3 AND line <= $1 ORDER BY line LIMIT $2 FOR UPDATE SKIP LOCKED
