INSERT INTO jobs (id, queue, kind, state, nprio, pos, max_attempts, created_at, enqueued_at, finished_at, expires_at, flags, ukey, workflow, step, limited,
                  attempt, releases, lease, worker, lease_ms, lease_until, deadline, started_at, activated_at, retry_delay)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
ON CONFLICT (id) DO NOTHING
