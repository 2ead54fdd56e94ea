SELECT format('%s.%s.%s', (SELECT system_identifier FROM pg_control_system()), (SELECT oid FROM pg_database WHERE datname = current_database()), to_regclass('ojs_jobs')::oid)
