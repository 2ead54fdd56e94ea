SELECT num, name, paused, created_at, rate, tokens, filled_at FROM queues WHERE num = ?1
