SELECT queue, state, sum(jobs)::bigint FROM ojs_counts WHERE queue = $1 GROUP BY queue, state
