SELECT num, id, phase, beat_at, directive, first_at, info FROM workers WHERE beat_at > 0 AND beat_at <= ?1
