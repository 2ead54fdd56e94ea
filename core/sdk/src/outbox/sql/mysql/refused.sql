UPDATE ojs_outbox_relay held
STRAIGHT_JOIN ojs_outbox outbox FORCE INDEX (PRIMARY) ON outbox.id = :id
SET outbox.status = 'failed', outbox.attempts = outbox.attempts + 1, outbox.error = :error,
    outbox.next_attempt_at = UTC_TIMESTAMP(6) + INTERVAL (:delay * 1000) MICROSECOND,
    outbox.parked_at = IF(:park = 1, UTC_TIMESTAMP(6), NULL)
WHERE held.`partition` = 0 AND held.owner = :owner AND held.term = :term
