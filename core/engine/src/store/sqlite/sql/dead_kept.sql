SELECT queues.name, counts.jobs FROM counts JOIN queues ON queues.num = counts.queue WHERE counts.state = 8 AND counts.jobs > 0
