SELECT {JOB} FROM jobs WHERE state = 0 AND pos <= ?1 ORDER BY pos LIMIT ?2
