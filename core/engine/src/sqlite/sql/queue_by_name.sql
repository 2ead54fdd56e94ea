SELECT num, name, paused, created_at FROM queues WHERE name = ?1
