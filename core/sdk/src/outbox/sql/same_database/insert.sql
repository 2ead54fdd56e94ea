INSERT INTO ojs_jobs (id, type, args, queue, meta, options)
VALUES (CAST(CAST(:id AS text) AS uuid), :type, CAST(CAST(:args AS text) AS json), :queue, CAST(CAST(:meta AS text) AS json), CAST(CAST(:options AS text) AS json))
