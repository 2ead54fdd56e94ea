SELECT count(*) FILTER (WHERE parked_at IS NULL),
    CAST(extract(epoch FROM clock_timestamp() - min(created_at) FILTER (WHERE parked_at IS NULL)) * 1000 AS bigint),
    count(*) FILTER (WHERE parked_at IS NOT NULL)
FROM ojs_outbox WHERE status <> 'sent'
