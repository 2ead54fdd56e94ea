DO $$
BEGIN
    EXECUTE format(
        'ALTER TABLE ojs_outbox ALTER COLUMN id SET DEFAULT ojs_outbox_number(%L::regclass, %L::regclass)',
        'ojs_outbox', pg_get_serial_sequence('ojs_outbox', 'id')
    );
END
$$
