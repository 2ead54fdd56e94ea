SELECT {JOB} FROM jobs
WHERE state = ?1 AND (?2 IS NULL OR queue = ?2)
  AND (?3 IS NULL OR kind IN (SELECT num FROM kinds WHERE name GLOB ?3))
  AND (?4 IS NULL OR created_at >= ?4) AND (?5 IS NULL OR created_at < ?5)
  AND seq > ?8
ORDER BY seq DESC LIMIT ?6 OFFSET ?7
