SELECT name, expression, timezone, overlap, enabled, description, template, created_at, next_at, last_at, run_count, last_job, waiting FROM ojs_crons c WHERE (next_at > 0 AND next_at <= $1)
   OR (waiting > 0 AND NOT EXISTS (
         SELECT 1 FROM ojs_jobs j JOIN ojs_runs r ON r.seq = j.seq WHERE j.id = c.last_job AND r.state NOT IN (4, 6, 7)))
ORDER BY next_at FOR UPDATE OF c
