INSERT INTO ojs_outbox (job_type, job_args, job_options, job_id, attempts)
VALUES (:type, :args, :options, :job_id,
    COALESCE((SELECT 0 FROM ojs_outbox_gate WHERE slot = CONV(RIGHT(:job_id, 2), 16, 10) LOCK IN SHARE MODE), 0))
