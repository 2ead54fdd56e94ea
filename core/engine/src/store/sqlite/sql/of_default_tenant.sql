SELECT {JOB} FROM jobs
WHERE state = 1 AND tenant = ?1 AND queue = ?2 AND nprio >= ?3 AND nprio < ?4
ORDER BY nprio, pos LIMIT ?5
