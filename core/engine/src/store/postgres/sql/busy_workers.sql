SELECT queue, count(DISTINCT worker) FROM ojs_active WHERE worker > 0 GROUP BY queue
