WITH RECURSIVE line (seq) AS (
  SELECT (SELECT seq FROM jobs INDEXED BY jobs_versions
    WHERE version > 0 AND state = 1 AND queue = ?1 ORDER BY kind, version LIMIT 1)
  UNION ALL
  SELECT (SELECT n.seq FROM jobs n INDEXED BY jobs_versions
    WHERE n.version > 0 AND n.state = 1 AND n.queue = ?1 AND (n.kind, n.version) > (j.kind, j.version)
    ORDER BY n.kind, n.version LIMIT 1)
  FROM line JOIN jobs j ON j.seq = line.seq
)
SELECT j.kind, j.version FROM line JOIN jobs j ON j.seq = line.seq
