SELECT {JOB} FROM jobs WHERE state = 3 AND pos <= ?1 ORDER BY pos LIMIT ?2
