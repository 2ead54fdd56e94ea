DELETE FROM ojs_outbox
WHERE status = 'sent' AND sent_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || (:age / 1000.0) || ' seconds')
    AND id < (SELECT min(id) FROM ojs_outbox WHERE status = 'sent') + 10000
RETURNING 1
