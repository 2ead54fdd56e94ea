SELECT c.relname::text, coalesce(i.indisvalid AND i.indisready, true)
FROM pg_class c
LEFT JOIN pg_index i ON i.indexrelid = c.oid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relname LIKE 'ojs\_%' AND c.relkind IN ('r', 'p', 'v', 'i', 'I', 'S')
UNION ALL
SELECT p.proname::text, true
FROM pg_proc p
WHERE p.pronamespace = current_schema()::regnamespace AND p.proname LIKE 'ojs\_%'
