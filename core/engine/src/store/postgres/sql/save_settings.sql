UPDATE ojs_queues SET paused = $2, rate = $3, tokens = $4, filled_at = $5, burst = $6, phase = $7, config = $8, effective = $9 WHERE num = $1
