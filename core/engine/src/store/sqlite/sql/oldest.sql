WITH RECURSIVE line (nprio) AS (
  SELECT min(nprio) FROM jobs WHERE state = 1 AND queue = ?1
  UNION ALL
  SELECT (SELECT min(nprio) FROM jobs WHERE state = 1 AND queue = ?1 AND nprio > line.nprio) FROM line WHERE line.nprio IS NOT NULL
)
SELECT {jobs.JOB}
FROM line JOIN jobs ON jobs.seq IN (
  SELECT j.seq FROM jobs j WHERE j.state = 1 AND j.queue = ?1 AND j.nprio = line.nprio ORDER BY j.pos LIMIT ?2)
ORDER BY jobs.pos LIMIT ?2
