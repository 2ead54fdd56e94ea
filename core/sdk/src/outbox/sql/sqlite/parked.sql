SELECT id, job_type, job_id, attempts, parked_at, error FROM ojs_outbox WHERE parked_at IS NOT NULL ORDER BY id LIMIT :limit
