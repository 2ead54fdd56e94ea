-- What a table made by the specification's DDL lacks. MySQL knows no ADD COLUMN IF NOT EXISTS.
SET @ojs_outbox_columns = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE ojs_outbox
    MODIFY COLUMN job_args LONGTEXT CHARACTER SET utf8mb4 NOT NULL,
    MODIFY COLUMN job_options LONGTEXT CHARACTER SET utf8mb4 NOT NULL DEFAULT (''{}''),
    MODIFY COLUMN error LONGTEXT CHARACTER SET utf8mb4,
    ADD COLUMN job_id VARCHAR(255),
    ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN next_attempt_at DATETIME(6),
    ADD COLUMN parked_at DATETIME(6),
    ADD COLUMN place TINYINT GENERATED ALWAYS AS (CASE WHEN status = ''sent'' THEN 1 WHEN parked_at IS NULL THEN 0 ELSE 2 END) VIRTUAL,
    ADD INDEX idx_ojs_outbox_place (place)')
FROM information_schema.columns
WHERE table_schema = DATABASE() AND table_name = 'ojs_outbox' AND column_name = 'place')
