INSERT INTO ojs_outbox_relay (partition, owner, term, expires_at)
VALUES (0, :owner, 1, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) + :ttl)
ON CONFLICT (partition) DO UPDATE SET
    term = CASE WHEN owner = excluded.owner THEN term ELSE term + 1 END,
    owner = excluded.owner,
    expires_at = excluded.expires_at
WHERE owner = excluded.owner OR expires_at <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
RETURNING term, identity
