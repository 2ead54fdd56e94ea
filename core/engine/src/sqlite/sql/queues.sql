SELECT num, name, paused, created_at, rate, tokens, filled_at FROM queues ORDER BY name
