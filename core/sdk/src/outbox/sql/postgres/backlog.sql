SELECT (SELECT count(*) FROM (SELECT 1 FROM ojs_outbox WHERE status <> 'sent' AND parked_at IS NULL LIMIT 10001) AS waiting),
    (SELECT CAST(extract(epoch FROM clock_timestamp() - created_at) * 1000 AS bigint) FROM ojs_outbox
        WHERE status <> 'sent' AND parked_at IS NULL ORDER BY id LIMIT 1),
    (SELECT count(*) FROM (SELECT 1 FROM ojs_outbox WHERE parked_at IS NOT NULL LIMIT 10001) AS parked)
