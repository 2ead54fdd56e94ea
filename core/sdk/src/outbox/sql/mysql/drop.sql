DELETE outbox FROM ojs_outbox outbox FORCE INDEX (idx_ojs_outbox_place) WHERE outbox.place = 2 AND (outbox.id = :id OR :id = 0)
