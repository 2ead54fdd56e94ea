SELECT name, expression, timezone, overlap, enabled, description, template, created_at, next_at, last_at, run_count, last_job, waiting
FROM crons WHERE (next_at > 0 AND next_at <= ?1)
   OR (waiting > 0 AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = crons.last_job AND jobs.state NOT IN (4, 6, 7)))
 ORDER BY next_at
