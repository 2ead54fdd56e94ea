SELECT queue, worker, count(*) FROM jobs WHERE state = 3 AND worker > 0 GROUP BY queue, worker
