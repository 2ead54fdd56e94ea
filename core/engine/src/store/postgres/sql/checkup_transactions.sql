SELECT pid, coalesce(nullif(application_name, ''), 'without a name'), state,
       floor(extract(epoch FROM clock_timestamp() - xact_start))::bigint
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start < clock_timestamp() - $1::bigint * interval '1 second'
ORDER BY xact_start
LIMIT 5
