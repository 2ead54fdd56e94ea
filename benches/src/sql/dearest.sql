SELECT coalesce(string_agg(line, E'\n' ORDER BY cost DESC), 'nothing') FROM (
  SELECT total_exec_time AS cost, format('%8s ms %8s calls %9s rows %7s kB log %6s kB images  %s', round(total_exec_time::numeric, 1), calls, rows,
    round(wal_bytes / 1024), wal_fpi * 8, left(regexp_replace(query, '\s+', ' ', 'g'), 70)) AS line
  FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY total_exec_time DESC LIMIT 14
) AS statements
