-- The first of each priority: one step of the index per priority in use, not one per job.
WITH RECURSIVE first (nprio, line) AS (
  (SELECT nprio, line FROM ojs_runs WHERE place = 1 AND queue = $1 ORDER BY nprio, line LIMIT 1)
  UNION ALL
  SELECT next.nprio, next.line FROM first, LATERAL (
    SELECT nprio, line FROM ojs_runs WHERE place = 1 AND queue = $1 AND nprio > first.nprio ORDER BY nprio, line LIMIT 1) AS next
)
SELECT min(line) FROM first
