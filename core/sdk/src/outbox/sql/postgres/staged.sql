SELECT job_id AS id, job_type AS type, CAST(job_args AS text) AS args, CAST(job_options AS text) AS options
FROM ojs_outbox WHERE status <> 'sent' ORDER BY ojs_outbox.id
