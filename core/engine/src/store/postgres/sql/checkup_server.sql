SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
       current_setting('fsync') = 'on' AND current_setting('synchronous_commit') <> 'off',
       coalesce((SELECT string_agg(relname, ', ' ORDER BY relname) FROM pg_class
                 WHERE relname LIKE 'ojs\_%' AND relkind IN ('r', 'p') AND relpersistence = 'u'), ''),
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
       current_setting('max_connections')::bigint,
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND datname = current_database()),
       (SELECT datconnlimit::bigint FROM pg_database WHERE datname = current_database()),
       quote_ident(current_database())
