SELECT num, id, phase, beat_at FROM workers WHERE id = ?1
