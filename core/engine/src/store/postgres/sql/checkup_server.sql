SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
       current_setting('fsync') = 'on' AND current_setting('synchronous_commit') <> 'off',
       current_setting('autovacuum') = 'on',
       coalesce((SELECT sum(n_dead_tup)::bigint FROM pg_stat_user_tables WHERE relname LIKE 'ojs\_%'), 0),
       coalesce((SELECT sum(n_live_tup)::bigint FROM pg_stat_user_tables WHERE relname LIKE 'ojs\_%'), 0),
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
       current_setting('max_connections')::bigint
