SELECT {JOB} FROM jobs INDEXED BY jobs_limited
WHERE limited > 0 AND state = 1 AND limited = ?1 AND queue = ?2 AND nprio >= ?3 AND nprio < ?4
  AND version = ?5 AND (?5 = 0 OR kind = ?6)
ORDER BY nprio DESC, pos DESC LIMIT ?7
