SELECT {JOB} FROM ojs_runs
WHERE place = 1 AND queue = $1 AND nprio >= $2 AND nprio < $3
ORDER BY nprio, line LIMIT $4 FOR UPDATE SKIP LOCKED
