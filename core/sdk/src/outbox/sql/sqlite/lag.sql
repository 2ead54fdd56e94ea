SELECT count(CASE WHEN parked_at IS NULL THEN 1 END),
    CAST((julianday('now') - min(CASE WHEN parked_at IS NULL THEN julianday(created_at) END)) * 86400000 AS INTEGER),
    count(parked_at)
FROM ojs_outbox WHERE status <> 'sent'
