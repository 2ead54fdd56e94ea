INSERT INTO ojs_limit_starts (limited, number, at) VALUES ($1, $2, $3)
