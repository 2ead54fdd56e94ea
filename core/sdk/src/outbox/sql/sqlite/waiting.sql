UPDATE ojs_outbox SET status = 'failed', error = :error
WHERE id IN (SELECT value FROM json_each(:ids))
    AND EXISTS (SELECT 1 FROM ojs_outbox_relay WHERE partition = 0 AND owner = :owner AND term = :term)
