DELETE FROM ojs_outbox
WHERE status = 'sent' AND sent_at < clock_timestamp() - :age * interval '1 millisecond'
    AND id < (SELECT min(id) FROM ojs_outbox WHERE status = 'sent') + 10000
RETURNING 1
