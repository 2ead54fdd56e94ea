DELETE FROM ojs_outbox WHERE parked_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || (:age / 1000.0) || ' seconds')
