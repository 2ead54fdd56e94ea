SELECT {JOB} FROM jobs WHERE state = 3 AND worker = ?1 LIMIT ?2
