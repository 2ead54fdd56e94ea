SELECT {JOB} FROM jobs WHERE limited > 0 AND state = 1 AND limited = ?1 LIMIT ?2
