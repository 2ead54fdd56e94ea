-- The gate: a transaction that writes a row holds a shared lock until it is over, and takes the row's number after it has the
-- lock. So the relay knows which transactions may still commit a number below one that it can see.
CREATE OR REPLACE FUNCTION ojs_outbox_number(outbox regclass, numbers regclass) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared((1869247233::bigint << 32) | outbox::oid::bigint);
    RETURN nextval(numbers);
END
$$
