INSERT INTO ojs_events (at, count, lines) VALUES ($1, $2, $3)
