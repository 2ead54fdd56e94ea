-- The next version of the same type, or the first one of the next type: SQLite searches a comparison of rows by its first column
-- alone, and of two bounds of a column by the first one. It would read all jobs of the type.
WITH RECURSIVE line (seq) AS (
  SELECT (SELECT seq FROM jobs INDEXED BY jobs_versions
    WHERE version > 0 AND state = 1 AND queue = ?1 ORDER BY kind, version LIMIT 1)
  UNION ALL
  SELECT COALESCE(
    (SELECT n.seq FROM jobs n INDEXED BY jobs_versions
      WHERE n.state = 1 AND n.queue = ?1 AND n.kind = j.kind AND n.version > j.version AND n.version > 0
      ORDER BY n.version LIMIT 1),
    (SELECT n.seq FROM jobs n INDEXED BY jobs_versions
      WHERE n.state = 1 AND n.queue = ?1 AND n.kind > j.kind AND n.version > 0
      ORDER BY n.kind, n.version LIMIT 1))
  FROM line JOIN jobs j ON j.seq = line.seq
)
SELECT j.kind, j.version FROM line JOIN jobs j ON j.seq = line.seq
