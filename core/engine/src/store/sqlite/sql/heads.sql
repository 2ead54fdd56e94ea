SELECT {JOB} FROM jobs INDEXED BY jobs_limited WHERE limited > 0 AND state = 1 AND limited = ?1 AND queue = ?2 AND nprio < 500
ORDER BY nprio DESC, pos DESC LIMIT ?3
