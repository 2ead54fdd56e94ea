SELECT seq, id, queue, kind, state, nprio, pos, attempt, releases, max_attempts, lease, worker, lease_ms, lease_until, deadline, created_at, enqueued_at, started_at, finished_at, activated_at, expires_at, retry_delay, flags, workflow, step, limited FROM jobs
WHERE ukey = ?1 AND state = ?2 AND created_at > ?3
ORDER BY created_at DESC LIMIT 1
