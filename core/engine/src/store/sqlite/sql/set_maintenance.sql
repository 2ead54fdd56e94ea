INSERT OR REPLACE INTO maintenance (one, reason, since, until) VALUES (1, ?1, ?2, ?3)
