SELECT {JOB} FROM jobs
WHERE ukey = ?1 AND state = ?2 AND created_at > ?3
ORDER BY created_at DESC LIMIT 1
