INSERT INTO ojs_outbox (job_type, job_args, job_options, job_id)
VALUES (:type, CAST(CAST(:args AS text) AS jsonb), CAST(CAST(:options AS text) AS jsonb), :job_id)
