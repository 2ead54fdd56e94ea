SELECT {JOB} FROM (
    SELECT * FROM jobs WHERE flags & 1 AND (finished_at, seq) < (?9, ?10) ORDER BY finished_at DESC, seq DESC LIMIT ?11
  ) AS jobs
WHERE (?1 IS NULL OR queue = ?1) AND (?2 IS NULL OR kind IN (SELECT num FROM kinds WHERE name GLOB ?2))
  AND (?3 IS NULL OR finished_at >= ?3) AND (?4 IS NULL OR finished_at < ?4)
  AND (?5 IS NULL OR EXISTS (SELECT 1 FROM histories WHERE histories.seq = jobs.seq AND json_extract(errors, '$[#-1].type') = ?5))
  AND (?8 IS NULL OR tenant = ?8)
ORDER BY finished_at DESC, seq DESC LIMIT ?6 OFFSET ?7
