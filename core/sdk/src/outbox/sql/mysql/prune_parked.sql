DELETE outbox FROM ojs_outbox outbox FORCE INDEX (idx_ojs_outbox_place)
WHERE outbox.place = 2 AND outbox.parked_at < UTC_TIMESTAMP(6) - INTERVAL (:age * 1000) MICROSECOND
