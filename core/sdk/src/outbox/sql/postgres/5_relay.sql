-- Who relays. The term grows with every change of hands: statements of an earlier owner change nothing.
CREATE TABLE IF NOT EXISTS ojs_outbox_relay (
    partition  INTEGER PRIMARY KEY,
    owner      TEXT NOT NULL,
    term       BIGINT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    identity   TEXT NOT NULL DEFAULT gen_random_uuid()::text
)
