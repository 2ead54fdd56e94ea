INSERT INTO queues (name, paused, created_at, rate, tokens, filled_at) VALUES (?1, 0, ?2, 0, 0, 0)
