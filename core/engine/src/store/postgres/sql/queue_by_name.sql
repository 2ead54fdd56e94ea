SELECT num, name, paused, created_at, rate, tokens, filled_at, burst, phase, config, effective FROM ojs_queues WHERE name = $1
