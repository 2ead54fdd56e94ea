SELECT queue, sum(jobs) FROM (
    SELECT queue, count(*) AS jobs FROM jobs WHERE flags & 1 GROUP BY queue
    UNION ALL SELECT queue, -jobs FROM counts WHERE state = 8
) GROUP BY queue HAVING sum(jobs) <> 0
