DELETE outbox FROM ojs_outbox outbox FORCE INDEX (idx_ojs_outbox_place)
WHERE outbox.place = 1 AND outbox.sent_at < UTC_TIMESTAMP(6) - INTERVAL (:age * 1000) MICROSECOND
    AND outbox.id < (SELECT bound FROM (SELECT MIN(id) + 10000 AS bound FROM ojs_outbox WHERE place = 1) oldest)
