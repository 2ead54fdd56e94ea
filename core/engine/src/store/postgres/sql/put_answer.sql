INSERT INTO ojs_answers (name, digest, status, body, at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (name) DO UPDATE SET digest = excluded.digest, status = excluded.status, body = excluded.body, at = excluded.at
