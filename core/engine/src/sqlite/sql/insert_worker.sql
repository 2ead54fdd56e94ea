INSERT INTO workers (id, phase, beat_at) VALUES (?1, 0, 0)
