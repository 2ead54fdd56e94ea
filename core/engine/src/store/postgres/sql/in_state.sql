SELECT {JOB}
FROM ojs_runs WHERE queue = $1 AND state = $2 LIMIT $3 FOR UPDATE
