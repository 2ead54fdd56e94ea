SELECT (SELECT count(*) FROM (SELECT 1 FROM ojs_outbox WHERE status <> 'sent' AND parked_at IS NULL LIMIT 10001)),
    (SELECT CAST((julianday('now') - julianday(created_at)) * 86400000 AS INTEGER) FROM ojs_outbox
        WHERE status <> 'sent' AND parked_at IS NULL ORDER BY id LIMIT 1),
    (SELECT count(*) FROM (SELECT 1 FROM ojs_outbox WHERE parked_at IS NOT NULL LIMIT 10001))
