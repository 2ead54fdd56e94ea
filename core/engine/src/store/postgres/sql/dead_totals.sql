SELECT count(*), min(line), max(line)
FROM (SELECT line, tenant FROM ojs_runs WHERE place = 7 AND flags & 1 = 1 ORDER BY line DESC LIMIT $2) AS newest WHERE ($1::bigint IS NULL OR tenant = $1)
