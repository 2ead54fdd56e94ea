SELECT at FROM ojs_limit_starts WHERE limited = $1 AND number = $2
