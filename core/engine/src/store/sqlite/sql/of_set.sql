SELECT {JOB} FROM jobs INDEXED BY jobs_ready
WHERE state = 1 AND queue = ?1 AND nprio >= ?2 AND nprio < ?3
ORDER BY nprio, pos LIMIT ?4
