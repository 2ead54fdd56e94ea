SELECT num, id, phase, beat_at, directive FROM workers WHERE id = ?1
