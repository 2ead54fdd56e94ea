WITH RECURSIVE line (seq, n) AS (
  SELECT (SELECT seq FROM ojs_runs
    WHERE fair > 0 AND place = 1 AND queue = $1 AND nprio = $2 AND fair > $3 ORDER BY fair LIMIT 1), 1::bigint
  UNION ALL
  SELECT (SELECT o.seq FROM ojs_runs o
    WHERE o.fair > 0 AND o.place = 1 AND o.queue = $1 AND o.nprio = $2 AND o.fair > r.fair ORDER BY o.fair LIMIT 1), n + 1
  FROM line JOIN ojs_runs r ON r.seq = line.seq
  WHERE n < $4
)
SELECT r.fair, r.tenant FROM line JOIN ojs_runs r ON r.seq = line.seq
