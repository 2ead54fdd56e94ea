SELECT queues.name, count(*)
FROM (SELECT queue, tenant FROM jobs WHERE flags & 1 ORDER BY finished_at DESC LIMIT ?2) AS newest JOIN queues ON queues.num = newest.queue
WHERE (?1 IS NULL OR newest.tenant = ?1) GROUP BY queues.name
