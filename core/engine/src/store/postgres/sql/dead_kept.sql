SELECT queue, sum(jobs)::bigint FROM ojs_counts WHERE state = 8 GROUP BY queue HAVING sum(jobs) > 0
