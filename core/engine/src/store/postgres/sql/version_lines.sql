WITH RECURSIVE line (seq) AS (
  SELECT (SELECT seq FROM ojs_runs
    WHERE version > 0 AND place = 1 AND queue = $1 ORDER BY kind, version LIMIT 1)
  UNION ALL
  SELECT (SELECT n.seq FROM ojs_runs n
    WHERE n.version > 0 AND n.place = 1 AND n.queue = $1 AND (n.kind, n.version) > (r.kind, r.version)
    ORDER BY n.kind, n.version LIMIT 1)
  FROM line JOIN ojs_runs r ON r.seq = line.seq
)
SELECT r.kind, r.version FROM line JOIN ojs_runs r ON r.seq = line.seq
