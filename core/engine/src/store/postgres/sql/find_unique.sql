SELECT {JOB}
FROM ojs_runs WHERE ukey = $1 AND state = ANY ($2) AND created_at > $3 ORDER BY created_at DESC, seq DESC LIMIT 1 FOR UPDATE
