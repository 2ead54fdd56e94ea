SELECT id, job_type, job_args::text, job_options::text, job_id, attempts::bigint,
    CAST(extract(epoch FROM created_at) * 1000 AS bigint)
FROM ojs_outbox
WHERE id > :after AND id <= :upto AND status <> 'sent' AND parked_at IS NULL
    AND (next_attempt_at IS NULL OR next_attempt_at <= clock_timestamp())
ORDER BY id
LIMIT :limit
