-- The gate: a transaction that writes a row shares the lock of one of these until its transaction is over, and takes the row's number after it has
-- the lock. So the relay knows which transactions may still commit a number below one that it can see. They are never changed.
CREATE TABLE IF NOT EXISTS ojs_outbox_gate (slot INTEGER NOT NULL PRIMARY KEY) ENGINE = InnoDB
