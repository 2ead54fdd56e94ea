INSERT INTO queues (name, paused, created_at) VALUES (?1, 0, ?2)
