SELECT seq, id, queue, kind, state, nprio, pos, attempt, releases, max_attempts, lease, worker, lease_ms, lease_until, deadline, created_at, enqueued_at, started_at, finished_at, activated_at, expires_at, retry_delay, flags, workflow, step, limited FROM jobs
WHERE state = ?1 AND (?2 IS NULL OR queue = ?2)
  AND (?3 IS NULL OR kind IN (SELECT num FROM kinds WHERE name GLOB ?3))
  AND (?4 IS NULL OR created_at >= ?4) AND (?5 IS NULL OR created_at < ?5)
  AND seq > ?8
ORDER BY seq DESC LIMIT ?6 OFFSET ?7
