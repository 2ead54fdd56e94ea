-- `fair > 0`, which the partial index wants, comes last: SQLite searches by the first bound, and would read all jobs of the keys before.
WITH RECURSIVE line (seq, n) AS (
  SELECT (SELECT seq FROM jobs INDEXED BY jobs_fair
    WHERE state = 1 AND queue = ?1 AND nprio = ?2 AND fair > ?3 AND fair > 0 ORDER BY fair LIMIT 1), 1
  UNION ALL
  SELECT (SELECT n.seq FROM jobs n INDEXED BY jobs_fair
    WHERE n.state = 1 AND n.queue = ?1 AND n.nprio = ?2 AND n.fair > j.fair AND n.fair > 0 ORDER BY n.fair LIMIT 1), n + 1
  FROM line JOIN jobs j ON j.seq = line.seq
  WHERE n < ?4
)
SELECT j.fair, j.tenant FROM line JOIN jobs j ON j.seq = line.seq
