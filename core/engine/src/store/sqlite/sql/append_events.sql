INSERT INTO events (at, upto, lines)
VALUES (?1, ?2 + coalesce((SELECT upto FROM events ORDER BY seq DESC LIMIT 1), 0), ?3)
