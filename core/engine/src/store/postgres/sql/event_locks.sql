SELECT objid::bigint FROM pg_locks
WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND classid = 'ojs_events_seq_seq'::regclass::oid AND objsubid = 2
