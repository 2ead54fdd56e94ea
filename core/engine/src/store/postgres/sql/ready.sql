SELECT {r.JOB},
       {j.BODY}
FROM ojs_runs r, LATERAL (SELECT * FROM ojs_jobs WHERE seq = r.seq OFFSET 0) j
WHERE r.place = 1 AND r.queue = $1 AND r.nprio < 500
  AND (r.nprio, r.line) > (CASE WHEN EXISTS (SELECT 1 FROM ojs_runs h WHERE h.place = 1 AND h.queue = $1 AND h.nprio < $3) THEN -32768 ELSE $3 END, $4)
ORDER BY r.nprio, r.line LIMIT $2
FOR UPDATE OF r SKIP LOCKED
