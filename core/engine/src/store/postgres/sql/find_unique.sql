SELECT seq, id, queue, kind, state, nprio, attempt, releases, max_attempts, flags, pos, lease, worker, lease_ms, lease_until, deadline,
       created_at, enqueued_at, started_at, finished_at, activated_at, expires_at, retry_delay, workflow, step, limited
FROM ojs_runs WHERE ukey = $1 AND state = ANY ($2) AND created_at > $3 ORDER BY created_at DESC, seq DESC LIMIT 1 FOR UPDATE
