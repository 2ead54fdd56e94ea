SELECT num, name, paused, created_at, rate, tokens, filled_at, burst, phase, config, effective FROM ojs_queues ORDER BY name
