UPDATE workers SET phase = ?2, beat_at = ?3 WHERE num = ?1
