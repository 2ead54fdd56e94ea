-- A crash of the database may undo the mark, and the rows are sent once more; the server knows them by id. So the commit does not wait for the disk.
WITH held AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true) FROM ojs_outbox_relay WHERE partition = 0 AND owner = :owner AND term = :term FOR SHARE
)
UPDATE ojs_outbox SET status = 'sent', sent_at = clock_timestamp(), error = CAST(:error AS text), next_attempt_at = NULL
FROM held WHERE id IN (SELECT CAST(value AS bigint) FROM json_array_elements_text(CAST(CAST(:ids AS text) AS json)))
RETURNING 1
