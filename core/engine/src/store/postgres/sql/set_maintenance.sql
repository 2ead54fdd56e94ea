INSERT INTO ojs_maintenance (reason, since, until) VALUES ($1, $2, $3)
ON CONFLICT (one) DO UPDATE SET reason = excluded.reason, since = excluded.since, until = excluded.until
