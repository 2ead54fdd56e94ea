UPDATE jobs SET state = ?2, pos = ?3, attempt = ?4, releases = ?5, lease = ?6, worker = ?7, lease_ms = ?8, lease_until = ?9, deadline = ?10, enqueued_at = ?11, started_at = ?12, finished_at = ?13, activated_at = ?14, expires_at = ?15, retry_delay = ?16, flags = ?17
WHERE seq = ?1
