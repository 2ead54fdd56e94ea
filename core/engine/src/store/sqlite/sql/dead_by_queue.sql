SELECT queues.name, count(*) FROM jobs JOIN queues ON queues.num = jobs.queue WHERE jobs.flags & 1 GROUP BY queues.name
