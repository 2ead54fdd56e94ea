SELECT line FROM ojs_runs WHERE place = 7 AND flags & 1 = 1 ORDER BY line LIMIT 1
