SELECT {jobs.JOB},
       {BODY}
FROM jobs JOIN bodies ON bodies.seq = jobs.seq
WHERE jobs.state = 1 AND jobs.queue = ?1 AND jobs.nprio < 500
ORDER BY jobs.nprio, jobs.pos
LIMIT ?2
