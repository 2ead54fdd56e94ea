SELECT num, name, paused, created_at FROM queues WHERE num = ?1
