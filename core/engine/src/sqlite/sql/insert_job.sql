INSERT INTO jobs (id, queue, kind, state, nprio, pos, attempt, releases, max_attempts, lease, worker, lease_ms, lease_until, deadline, created_at, enqueued_at, started_at, finished_at, activated_at, expires_at, retry_delay, flags)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)
ON CONFLICT (id) DO NOTHING
