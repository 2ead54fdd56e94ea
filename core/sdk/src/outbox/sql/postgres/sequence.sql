SELECT seqcache, pg_get_serial_sequence('ojs_outbox', 'id') FROM pg_sequence
WHERE seqrelid = pg_get_serial_sequence('ojs_outbox', 'id')::regclass
