DELETE FROM ojs_events WHERE at < $1 OR seq <= (
  SELECT seq FROM (SELECT seq, sum(count) OVER (ORDER BY seq DESC) AS newer FROM ojs_events) AS log WHERE newer > $2 ORDER BY seq DESC LIMIT 1)
