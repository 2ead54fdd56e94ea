SELECT {r.JOB},
       {j.BODY}
FROM ojs_runs r, LATERAL (SELECT * FROM ojs_jobs WHERE seq = r.seq OFFSET 0) j
WHERE r.version > 0 AND r.place = 1 AND r.queue = $1 AND r.kind = $2 AND r.version = $3
  AND r.nprio >= $4 AND r.nprio < $5
ORDER BY r.nprio, r.line LIMIT $6
FOR UPDATE OF r SKIP LOCKED
