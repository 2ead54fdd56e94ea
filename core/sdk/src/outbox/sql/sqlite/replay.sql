UPDATE ojs_outbox SET status = 'pending', attempts = 0, next_attempt_at = NULL, parked_at = NULL
WHERE parked_at IS NOT NULL AND (id = :id OR :id = 0)
RETURNING 1
