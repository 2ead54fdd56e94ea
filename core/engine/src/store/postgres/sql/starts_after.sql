SELECT count(*) FROM ojs_limit_starts WHERE limited = $1 AND at > $2
