SELECT {jobs.JOB},
       {BODY}
FROM jobs INDEXED BY jobs_fair JOIN bodies ON bodies.seq = jobs.seq
WHERE jobs.fair > 0 AND jobs.state = 1 AND jobs.queue = ?1 AND jobs.nprio = ?2 AND jobs.fair = ?3
ORDER BY jobs.pos
LIMIT ?4
