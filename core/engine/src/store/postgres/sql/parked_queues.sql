WITH RECURSIVE line (queue) AS (
  SELECT min(queue) FROM ojs_runs WHERE limited > 0 AND place = 1 AND limited = $1
  UNION ALL
  SELECT (SELECT min(queue) FROM ojs_runs WHERE limited > 0 AND place = 1 AND limited = $1 AND queue > line.queue)
  FROM line WHERE line.queue IS NOT NULL
)
SELECT queue FROM line
WHERE queue IS NOT NULL
  AND EXISTS (SELECT 1 FROM ojs_runs r WHERE r.limited > 0 AND r.place = 1 AND r.limited = $1 AND r.queue = line.queue AND r.nprio >= 500 AND r.nprio < 1500)
