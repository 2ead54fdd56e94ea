SELECT seq, id, queue, kind, state, nprio, attempt, releases, max_attempts, flags, pos, lease, worker, lease_ms, lease_until, deadline, created_at, enqueued_at, started_at, finished_at, activated_at, expires_at, retry_delay, workflow, step, limited FROM ojs_runs
WHERE limited > 0 AND place = 1 AND limited = $1 AND queue = $2 AND nprio >= 500 ORDER BY nprio, line LIMIT $3 FOR UPDATE
