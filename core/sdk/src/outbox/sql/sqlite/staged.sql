SELECT job_id AS id, job_type AS type, job_args AS args, job_options AS options
FROM ojs_outbox WHERE status <> 'sent' ORDER BY ojs_outbox.id
