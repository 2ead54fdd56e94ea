SELECT {r.JOB},
       {j.BODY}
FROM ojs_runs r, LATERAL (SELECT * FROM ojs_jobs WHERE seq = r.seq OFFSET 0) j
WHERE r.fair > 0 AND r.place = 1 AND r.queue = $1 AND r.nprio = $2 AND r.fair = $3
ORDER BY r.line LIMIT $4
FOR UPDATE OF r SKIP LOCKED
