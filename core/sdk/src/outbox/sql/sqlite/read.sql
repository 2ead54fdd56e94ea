SELECT id, job_type, job_args, job_options, job_id, attempts, CAST((julianday(created_at) - 2440587.5) * 86400000 AS INTEGER)
FROM ojs_outbox
WHERE id > :after AND id <= :upto AND status <> 'sent' AND parked_at IS NULL
    AND (next_attempt_at IS NULL OR next_attempt_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
ORDER BY id
LIMIT :limit
