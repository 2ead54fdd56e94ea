SELECT count(*), min(line), max(line) FROM ojs_runs WHERE place = 7 AND flags & 1 = 1 AND ($1::bigint IS NULL OR tenant = $1)
