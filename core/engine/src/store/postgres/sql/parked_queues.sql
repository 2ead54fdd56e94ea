WITH RECURSIVE line (queue) AS (
  SELECT min(queue) FROM ojs_runs WHERE limited > 0 AND place = 1 AND limited = $1
  UNION ALL
  SELECT (SELECT min(queue) FROM ojs_runs WHERE limited > 0 AND place = 1 AND limited = $1 AND queue > line.queue)
  FROM line WHERE line.queue IS NOT NULL
)
SELECT queue,
  EXISTS (SELECT 1 FROM ojs_runs r
    WHERE r.limited > 0 AND r.place = 1 AND r.limited = $1 AND r.queue = line.queue AND r.nprio >= $2 AND r.nprio < $3) AS plain,
  EXISTS (SELECT 1 FROM ojs_runs r
    WHERE r.limited > 0 AND r.place = 1 AND r.limited = $1 AND r.queue = line.queue AND r.nprio >= $4 AND r.nprio < $5) AS versioned
FROM line WHERE queue IS NOT NULL
