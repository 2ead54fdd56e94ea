-- Version 8. A transaction that takes a number of the event log holds a shared lock until it is over. The key of the lock is the
-- sequence and the latest number by then (its low 32 bits), so the transaction's own number is larger. The lock comes before the
-- number, so a number that is missing and has no lock below it will not come. The default does it: nodes of the version before, which
-- read by the column xid, take the lock too.
DO $$
DECLARE
  latest bigint;
BEGIN
  LOCK TABLE ojs_events IN ACCESS EXCLUSIVE MODE;
  latest := pg_sequence_last_value('ojs_events_seq_seq');
  ALTER TABLE ojs_events ALTER COLUMN seq DROP IDENTITY;
  CREATE SEQUENCE ojs_events_seq_seq OWNED BY ojs_events.seq;
  IF latest IS NOT NULL THEN
    PERFORM setval('ojs_events_seq_seq', latest);
  END IF;
END
$$;
ALTER TABLE ojs_events ALTER COLUMN seq SET DEFAULT CASE
  WHEN pg_advisory_xact_lock_shared(
    'ojs_events_seq_seq'::regclass::oid::int4,
    coalesce(pg_sequence_last_value('ojs_events_seq_seq'), 0)::bit(32)::int4
  ) IS NOT NULL
  THEN nextval('ojs_events_seq_seq') END;
