SELECT {JOB} FROM ojs_runs
WHERE tenant > 0 AND place = 1 AND tenant = $1 AND queue = $2 AND nprio >= $3 AND nprio < $4
ORDER BY nprio, line LIMIT $5 FOR UPDATE SKIP LOCKED
