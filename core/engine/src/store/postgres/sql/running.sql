SELECT {JOB} FROM ojs_runs WHERE limited > 0 AND place = 3 AND limited = $1 LIMIT $2
