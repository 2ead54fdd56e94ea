SELECT queue, state, sum(jobs)::bigint FROM ojs_counts GROUP BY queue, state ORDER BY queue
