SELECT name, expression, timezone, overlap, enabled, description, template, created_at, next_at, last_at, run_count, last_job, waiting
FROM crons WHERE name = ?1
