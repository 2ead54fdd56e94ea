SELECT {JOB}
FROM ojs_runs WHERE expires_at > 0 AND expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
