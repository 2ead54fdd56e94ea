SELECT id, job_type, job_args, job_options, job_id, attempts,
    CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', created_at) DIV 1000 AS SIGNED)
FROM ojs_outbox FORCE INDEX (idx_ojs_outbox_place)
WHERE place = 0 AND id > :after AND id <= :upto AND (next_attempt_at IS NULL OR next_attempt_at <= UTC_TIMESTAMP(6))
ORDER BY id
LIMIT :limit
