SELECT coalesce((SELECT min(seq) FROM events), newest + 1), newest
FROM (SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) AS newest)
