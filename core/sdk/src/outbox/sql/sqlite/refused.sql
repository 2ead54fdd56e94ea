UPDATE ojs_outbox SET status = 'failed', attempts = attempts + 1, error = :error,
    next_attempt_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', (:delay / 1000.0) || ' seconds'),
    parked_at = CASE WHEN :park = 1 THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now') END
WHERE id = :id AND EXISTS (SELECT 1 FROM ojs_outbox_relay WHERE partition = 0 AND owner = :owner AND term = :term)
