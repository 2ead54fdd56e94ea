INSERT INTO workers (id, phase, beat_at, directive) VALUES (?1, 0, 0, 0)
