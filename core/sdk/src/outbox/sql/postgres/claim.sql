INSERT INTO ojs_outbox_relay AS mine (partition, owner, term, expires_at)
VALUES (0, :owner, 1, clock_timestamp() + :ttl * interval '1 millisecond')
ON CONFLICT (partition) DO UPDATE SET
    owner = excluded.owner,
    term = CASE WHEN mine.owner = excluded.owner THEN mine.term ELSE mine.term + 1 END,
    expires_at = excluded.expires_at
WHERE mine.owner = excluded.owner OR mine.expires_at <= clock_timestamp()
RETURNING term, identity
