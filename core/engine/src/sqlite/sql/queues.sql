SELECT num, name, paused, created_at FROM queues ORDER BY name
