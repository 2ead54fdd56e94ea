SELECT num FROM workflows WHERE finished_at > 0 AND finished_at < ?1 ORDER BY finished_at LIMIT ?2
