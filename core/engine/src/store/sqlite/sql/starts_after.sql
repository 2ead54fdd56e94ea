SELECT count(*) FROM limit_starts WHERE limited = ?1 AND at > ?2
