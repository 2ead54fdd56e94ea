INSERT INTO ojs_outbox (job_type, job_args, job_options, job_id) VALUES (:type, :args, :options, :job_id)
