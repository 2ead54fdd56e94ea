SELECT queue, count(DISTINCT worker) FROM jobs WHERE state = 3 AND worker > 0 GROUP BY queue
