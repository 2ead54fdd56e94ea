-- Version 2: what operators see of workers, maintenance, and lists of the rarer states that do not read the others.
ALTER TABLE workers ADD COLUMN first_at INTEGER NOT NULL DEFAULT 0;   -- first heartbeat
ALTER TABLE workers ADD COLUMN info TEXT NOT NULL DEFAULT '{}';       -- what it says of itself
CREATE TABLE maintenance (one INTEGER PRIMARY KEY CHECK (one = 1), reason TEXT NOT NULL, since INTEGER NOT NULL, until INTEGER NOT NULL);
-- What happened by minute or hour, queue and node; spread of run and waiting times as class:count pairs.
CREATE TABLE stats (
  span      INTEGER NOT NULL,
  at        INTEGER NOT NULL,
  queue     INTEGER NOT NULL,
  node      INTEGER NOT NULL,
  enqueued  INTEGER NOT NULL,
  completed INTEGER NOT NULL,
  failed    INTEGER NOT NULL,
  discarded INTEGER NOT NULL,
  run       TEXT    NOT NULL,
  wait      TEXT    NOT NULL,
  PRIMARY KEY (span, at, queue, node)
) WITHOUT ROWID;
CREATE INDEX jobs_pending ON jobs (seq) WHERE state = 2;
CREATE INDEX jobs_cancelled ON jobs (seq) WHERE state = 6;
CREATE INDEX jobs_discarded ON jobs (seq) WHERE state = 7;
PRAGMA user_version = 2;
