SELECT num, name, paused, created_at, rate, tokens, filled_at, burst, phase, config, effective FROM queues WHERE num = ?1
