SELECT virtualtransaction
FROM pg_locks
WHERE locktype = 'advisory'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND classid = 1869247233 AND objid = 'ojs_outbox'::regclass::oid AND objsubid = 1
