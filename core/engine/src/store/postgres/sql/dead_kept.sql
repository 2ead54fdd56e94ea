SELECT q.name, sum(c.jobs)::bigint FROM ojs_counts c JOIN ojs_queues q ON q.num = c.queue WHERE c.state = 8 GROUP BY q.name HAVING sum(c.jobs) > 0
