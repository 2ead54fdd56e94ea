SELECT queue, sum(jobs)::bigint FROM (
    SELECT queue, count(*) AS jobs FROM ojs_runs WHERE place = 7 AND flags & 1 = 1 GROUP BY queue
    UNION ALL SELECT queue, -jobs FROM ojs_counts WHERE state = 8
) AS both_sides GROUP BY queue HAVING sum(jobs) <> 0
