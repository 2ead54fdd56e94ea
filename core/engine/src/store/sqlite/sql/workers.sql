SELECT num, id, phase, beat_at, directive, first_at, info, coalesce(held.jobs, 0)
FROM workers LEFT JOIN (SELECT worker, count(*) AS jobs FROM jobs WHERE state = 3 AND worker > 0 GROUP BY worker) AS held ON held.worker = num
ORDER BY id
