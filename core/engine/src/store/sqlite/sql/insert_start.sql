INSERT INTO limit_starts (limited, number, at) VALUES (?1, ?2, ?3)
