SELECT coalesce((SELECT sum(n_dead_tup)::bigint FROM pg_stat_user_tables WHERE relname LIKE 'ojs\_%'), 0),
       coalesce((SELECT sum(n_live_tup)::bigint FROM pg_stat_user_tables WHERE relname LIKE 'ojs\_%'), 0),
       current_setting('autovacuum') = 'on',
       coalesce((SELECT string_agg(relname, ', ' ORDER BY relname) FROM pg_class
                 WHERE relname LIKE 'ojs\_%' AND reloptions::text ~ 'autovacuum_enabled=(false|off|0|no)'), ''),
       (SELECT age(datfrozenxid)::bigint FROM pg_database WHERE datname = current_database()),
       coalesce((SELECT n_tup_upd::bigint FROM pg_stat_user_tables WHERE relname = 'ojs_runs' AND schemaname = current_schema()), 0),
       coalesce((SELECT n_tup_hot_upd::bigint FROM pg_stat_user_tables WHERE relname = 'ojs_runs' AND schemaname = current_schema()), 0)
