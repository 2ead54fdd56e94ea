WITH held AS MATERIALIZED (
    SELECT 1 FROM ojs_outbox_relay WHERE partition = 0 AND owner = :owner AND term = :term FOR SHARE
)
UPDATE ojs_outbox SET status = 'failed', attempts = attempts + 1, error = CAST(:error AS text),
    next_attempt_at = clock_timestamp() + :delay * interval '1 millisecond',
    parked_at = CASE WHEN :park = 1 THEN clock_timestamp() END
FROM held WHERE id = :id
