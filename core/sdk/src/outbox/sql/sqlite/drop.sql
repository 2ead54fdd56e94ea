DELETE FROM ojs_outbox WHERE parked_at IS NOT NULL AND (id = :id OR :id = 0)
RETURNING 1
