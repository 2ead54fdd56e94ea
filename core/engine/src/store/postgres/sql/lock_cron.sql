SELECT name, expression, timezone, overlap, enabled, description, template, created_at, next_at, last_at, run_count, last_job, waiting FROM ojs_crons WHERE name = $1 FOR UPDATE
