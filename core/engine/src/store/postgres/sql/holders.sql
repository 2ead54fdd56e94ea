SELECT queue, worker, count(*) FROM ojs_active WHERE worker > 0 GROUP BY queue, worker
