SELECT id, job_type, job_id, attempts::bigint, to_char(parked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), error
FROM ojs_outbox WHERE parked_at IS NOT NULL ORDER BY id LIMIT :limit
