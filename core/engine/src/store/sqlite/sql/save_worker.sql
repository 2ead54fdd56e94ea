UPDATE workers SET phase = ?2, beat_at = ?3, directive = ?4, first_at = ?5, info = ?6 WHERE num = ?1
