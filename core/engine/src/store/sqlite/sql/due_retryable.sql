SELECT {JOB} FROM jobs WHERE state = 5 AND pos <= ?1 ORDER BY pos LIMIT ?2
