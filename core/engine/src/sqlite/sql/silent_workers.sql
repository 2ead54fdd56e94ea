SELECT num, id, phase, beat_at, directive FROM workers WHERE beat_at > 0 AND beat_at <= ?1
