-- The first of each priority: one step of the index per priority in use, not one per job.
WITH RECURSIVE first (nprio, pos) AS (
  (SELECT nprio, pos FROM ojs_runs WHERE state = 1 AND queue = $1 ORDER BY nprio, pos LIMIT 1)
  UNION ALL
  SELECT next.nprio, next.pos FROM first, LATERAL (
    SELECT nprio, pos FROM ojs_runs WHERE state = 1 AND queue = $1 AND nprio > first.nprio ORDER BY nprio, pos LIMIT 1) AS next
)
SELECT min(pos) FROM first
