UPDATE ojs_outbox FORCE INDEX (idx_ojs_outbox_place) SET status = 'pending', attempts = 0, next_attempt_at = NULL, parked_at = NULL
WHERE place = 2 AND (id = :id OR :id = 0)
