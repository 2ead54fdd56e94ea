UPDATE ojs_outbox SET status = 'sent', sent_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), error = :error, next_attempt_at = NULL
WHERE id IN (SELECT value FROM json_each(:ids))
    AND EXISTS (SELECT 1 FROM ojs_outbox_relay WHERE partition = 0 AND owner = :owner AND term = :term)
RETURNING 1
