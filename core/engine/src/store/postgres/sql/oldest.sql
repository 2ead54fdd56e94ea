WITH RECURSIVE line (nprio) AS (
  SELECT min(nprio) FROM ojs_runs WHERE place = 1 AND queue = $1
  UNION ALL
  SELECT (SELECT min(nprio) FROM ojs_runs WHERE place = 1 AND queue = $1 AND nprio > line.nprio) FROM line WHERE line.nprio IS NOT NULL
)
SELECT {r.JOB}
FROM ojs_runs r WHERE r.place = 1 AND r.seq IN (
  SELECT first.seq FROM line, LATERAL (
    SELECT seq FROM ojs_runs WHERE place = 1 AND queue = $1 AND nprio = line.nprio ORDER BY line LIMIT $2) AS first)
ORDER BY r.line LIMIT $2 FOR UPDATE
