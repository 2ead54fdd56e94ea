DELETE FROM events
WHERE at < ?1 OR upto <= (SELECT upto FROM events ORDER BY seq DESC LIMIT 1) - ?2
