SELECT count(*) FROM ojs_limits WHERE $1::text IS NULL OR key = $1
