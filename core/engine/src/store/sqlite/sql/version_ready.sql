SELECT {jobs.JOB},
       {BODY}
FROM jobs INDEXED BY jobs_versions JOIN bodies ON bodies.seq = jobs.seq
WHERE jobs.version > 0 AND jobs.state = 1 AND jobs.queue = ?1 AND jobs.kind = ?2 AND jobs.version = ?3
  AND jobs.nprio >= ?4 AND jobs.nprio < ?5
ORDER BY jobs.nprio, jobs.pos
LIMIT ?6
