-- JSON as it was written: MySQL's own type would reorder keys and round numbers. Times are UTC. The relay finds rows by their place:
-- 0 to be sent, 1 sent, 2 parked.
CREATE TABLE IF NOT EXISTS ojs_outbox (
    id              BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    job_type        TEXT NOT NULL,
    job_args        LONGTEXT NOT NULL,
    job_options     LONGTEXT NOT NULL DEFAULT ('{}'),
    status          VARCHAR(16) NOT NULL DEFAULT 'pending',
    created_at      DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    sent_at         DATETIME(6),
    error           LONGTEXT,
    job_id          VARCHAR(255),
    attempts        INTEGER NOT NULL DEFAULT 0,
    next_attempt_at DATETIME(6),
    parked_at       DATETIME(6),
    place           TINYINT GENERATED ALWAYS AS (CASE WHEN status = 'sent' THEN 1 WHEN parked_at IS NULL THEN 0 ELSE 2 END) VIRTUAL,
    INDEX idx_ojs_outbox_place (place)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
