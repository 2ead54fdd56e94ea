INSERT OR REPLACE INTO crons (name, expression, timezone, overlap, enabled, description, template, created_at, next_at, last_at, run_count, last_job, waiting)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
