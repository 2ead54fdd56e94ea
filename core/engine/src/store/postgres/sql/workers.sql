SELECT num, id, phase, beat_at, directive, first_at, info, coalesce(held.jobs, 0)
FROM ojs_workers LEFT JOIN (SELECT worker, count(*) AS jobs FROM ojs_active WHERE worker > 0 GROUP BY worker) AS held ON held.worker = num
ORDER BY id
