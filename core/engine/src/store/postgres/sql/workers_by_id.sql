SELECT num, id, phase, beat_at, directive, first_at, info FROM ojs_workers WHERE id = ANY ($1)
