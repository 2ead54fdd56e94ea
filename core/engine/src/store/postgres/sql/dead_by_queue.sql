SELECT q.name, count(*)
FROM (SELECT queue, tenant FROM ojs_runs WHERE place = 7 AND flags & 1 = 1 ORDER BY line DESC LIMIT $2) AS newest JOIN ojs_queues q ON q.num = newest.queue
WHERE ($1::bigint IS NULL OR newest.tenant = $1) GROUP BY q.name
