SELECT 1 WHERE
    EXISTS (SELECT 1 FROM ojs_outbox WHERE parked_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || (:age_parked / 1000.0) || ' seconds'))
    OR EXISTS (SELECT 1 FROM ojs_outbox WHERE status = 'sent' AND sent_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || (:age_sent / 1000.0) || ' seconds')
        AND id < (SELECT min(id) FROM ojs_outbox WHERE status = 'sent') + 10000)
