WITH gone AS (
  DELETE FROM ojs_workflows WHERE num = ANY (ARRAY (
    SELECT num FROM ojs_workflows WHERE finished_at > 0 AND finished_at < $1 ORDER BY finished_at LIMIT $2)) RETURNING num)
DELETE FROM ojs_steps WHERE workflow IN (SELECT num FROM gone)
