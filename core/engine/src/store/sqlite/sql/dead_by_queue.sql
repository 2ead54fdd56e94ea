SELECT queues.name, count(*) FROM jobs JOIN queues ON queues.num = jobs.queue WHERE jobs.flags & 1 AND (?1 IS NULL OR jobs.tenant = ?1) GROUP BY queues.name
