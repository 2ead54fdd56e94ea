SELECT min(nprio)::bigint FROM ojs_runs
WHERE fair > 0 AND place = 1 AND queue = $1 AND nprio >= $2 AND nprio < $3
