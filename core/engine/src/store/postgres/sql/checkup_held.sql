SELECT 'prepared transaction ' || gid, 'ROLLBACK PREPARED ' || quote_literal(gid)
FROM pg_prepared_xacts
WHERE database = current_database() AND prepared < clock_timestamp() - $1::bigint * interval '1 second'
UNION ALL
SELECT 'replication slot ' || slot_name || ' that no one reads',
       'SELECT pg_drop_replication_slot(' || quote_literal(slot_name) || ')'
FROM pg_replication_slots
WHERE NOT active AND (restart_lsn IS NOT NULL OR xmin IS NOT NULL OR catalog_xmin IS NOT NULL)
ORDER BY 1
LIMIT 10
