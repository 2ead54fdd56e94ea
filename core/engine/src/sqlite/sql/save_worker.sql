UPDATE workers SET phase = ?2, beat_at = ?3, directive = ?4 WHERE num = ?1
