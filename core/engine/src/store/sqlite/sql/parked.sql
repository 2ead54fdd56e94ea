SELECT seq, id, queue, kind, state, nprio, pos, attempt, releases, max_attempts, lease, worker, lease_ms, lease_until, deadline, created_at, enqueued_at, started_at, finished_at, activated_at, expires_at, retry_delay, flags, workflow, step, limited FROM jobs
WHERE limited > 0 AND state = 1 AND limited = ?1 AND queue = ?2 AND nprio >= ?3 AND nprio < ?4 ORDER BY nprio, pos LIMIT ?5
