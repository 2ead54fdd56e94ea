SELECT {JOB} FROM ojs_runs WHERE limited > 0 AND place = 1 AND limited = $1 AND queue = $2 AND nprio < 500
ORDER BY nprio DESC, line DESC LIMIT $3
