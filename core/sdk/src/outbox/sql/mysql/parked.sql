SELECT id, job_type, job_id, attempts, DATE_FORMAT(parked_at, '%Y-%m-%dT%H:%i:%sZ'), error
FROM ojs_outbox WHERE place = 2 ORDER BY id LIMIT :limit
