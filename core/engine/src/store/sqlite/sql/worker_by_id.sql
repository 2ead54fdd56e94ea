SELECT num, id, phase, beat_at, directive, first_at, info FROM workers WHERE id = ?1
