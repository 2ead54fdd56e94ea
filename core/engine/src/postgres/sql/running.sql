SELECT count(*) FROM ojs_runs WHERE limited > 0 AND state = 3 AND limited = $1
