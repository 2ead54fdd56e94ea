SELECT q.name, count(*) FROM ojs_runs r JOIN ojs_queues q ON q.num = r.queue WHERE r.place = 7 AND r.flags & 1 = 1 AND ($1::bigint IS NULL OR r.tenant = $1) GROUP BY q.name
