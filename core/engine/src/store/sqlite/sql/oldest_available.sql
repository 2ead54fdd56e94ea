-- The first of each priority: one step of the index per priority in use, not one per job.
WITH RECURSIVE first (nprio, pos) AS (
  SELECT * FROM (SELECT nprio, pos FROM jobs WHERE state = 1 AND queue = ?1 ORDER BY nprio, pos LIMIT 1)
  UNION ALL
  SELECT jobs.nprio, jobs.pos FROM first JOIN jobs ON jobs.seq =
    (SELECT seq FROM jobs WHERE state = 1 AND queue = ?1 AND nprio > first.nprio ORDER BY nprio, pos LIMIT 1)
)
SELECT min(pos) FROM first
