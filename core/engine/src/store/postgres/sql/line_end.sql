SELECT nprio, line, count(*) OVER () FROM (
  SELECT nprio, line FROM ojs_runs
  WHERE place = 1 AND queue = $1 AND nprio < 500 AND (nprio, line) > ($2, $3)
  ORDER BY nprio, line LIMIT $4
) looked ORDER BY nprio DESC, line DESC LIMIT 1
