SELECT {JOB} FROM jobs
WHERE TRUE AND (?1 IS NULL OR queue = ?1)
  AND (?2 IS NULL OR kind IN (SELECT num FROM kinds WHERE name GLOB ?2))
  AND (?3 IS NULL OR created_at >= ?3) AND (?4 IS NULL OR created_at < ?4)
  AND (?8 IS NULL OR tenant = ?8)
  AND seq > ?7
ORDER BY seq DESC LIMIT ?5 OFFSET ?6
