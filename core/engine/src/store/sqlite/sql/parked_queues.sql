WITH RECURSIVE line (queue) AS (
  SELECT min(queue) FROM jobs WHERE limited > 0 AND state = 1 AND limited = ?1
  UNION ALL
  SELECT (SELECT min(queue) FROM jobs WHERE limited > 0 AND state = 1 AND limited = ?1 AND queue > line.queue)
  FROM line WHERE line.queue IS NOT NULL
)
SELECT queue,
  EXISTS (SELECT 1 FROM jobs
    WHERE limited > 0 AND state = 1 AND limited = ?1 AND jobs.queue = line.queue AND nprio >= ?2 AND nprio < ?3) AS plain,
  EXISTS (SELECT 1 FROM jobs
    WHERE limited > 0 AND state = 1 AND limited = ?1 AND jobs.queue = line.queue AND nprio >= ?4 AND nprio < ?5) AS versioned
FROM line WHERE queue IS NOT NULL
