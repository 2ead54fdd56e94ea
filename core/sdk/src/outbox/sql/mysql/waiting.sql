UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) batch
STRAIGHT_JOIN ojs_outbox_relay held ON held.`partition` = 0 AND held.owner = :owner AND held.term = :term
STRAIGHT_JOIN ojs_outbox outbox FORCE INDEX (PRIMARY) ON outbox.id = batch.id
SET outbox.status = 'failed', outbox.error = :error
