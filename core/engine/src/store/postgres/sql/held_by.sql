SELECT {JOB}
FROM ojs_runs WHERE seq = ANY (ARRAY (SELECT seq FROM ojs_active WHERE worker = $1 LIMIT $2)) AND worker = $1 AND state = 3 ORDER BY seq FOR UPDATE
