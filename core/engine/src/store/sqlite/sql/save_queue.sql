UPDATE queues SET paused = ?2, rate = ?3, tokens = ?4, filled_at = ?5, burst = ?6 WHERE num = ?1
