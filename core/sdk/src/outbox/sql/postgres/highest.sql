SELECT greatest(
    pg_sequence_last_value(pg_get_serial_sequence('ojs_outbox', 'id')::regclass),
    (SELECT max(id) FROM ojs_outbox WHERE status <> 'sent' AND parked_at IS NULL)
)
