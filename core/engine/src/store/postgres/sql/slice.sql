SELECT {JOB}
FROM ojs_runs WHERE seq > $1 ORDER BY seq LIMIT $2
