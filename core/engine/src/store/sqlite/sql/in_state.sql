SELECT {JOB} FROM jobs WHERE queue = ?1 AND state = ?2 LIMIT ?3
