SELECT {JOB} FROM jobs WHERE limited > 0 AND state = 3 AND limited = ?1 LIMIT ?2
