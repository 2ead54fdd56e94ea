SELECT {JOB} FROM jobs INDEXED BY jobs_tenant_ready
WHERE tenant > 0 AND state = 1 AND tenant = ?1 AND queue = ?2 AND nprio >= ?3 AND nprio < ?4
ORDER BY nprio, pos LIMIT ?5
