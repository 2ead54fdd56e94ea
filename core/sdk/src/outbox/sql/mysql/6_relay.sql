-- Who relays. The term grows with every change of hands: statements of an earlier owner change nothing.
CREATE TABLE IF NOT EXISTS ojs_outbox_relay (
    `partition` INTEGER NOT NULL PRIMARY KEY,
    owner       VARCHAR(255) NOT NULL,
    term        BIGINT NOT NULL,
    expires_at  DATETIME(6) NOT NULL,
    identity    VARCHAR(64) NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
