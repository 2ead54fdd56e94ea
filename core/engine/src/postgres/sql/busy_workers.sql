SELECT queue, count(DISTINCT worker) FROM ojs_runs WHERE state = 3 AND worker > 0 GROUP BY queue
