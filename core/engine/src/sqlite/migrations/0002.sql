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
-- Settings of queues. config is what an operator set, effective the same over the template; both JSON, empty for none.
ALTER TABLE queues ADD COLUMN burst REAL NOT NULL DEFAULT 0;        -- most tokens of the bucket, 0 for a second's worth
ALTER TABLE queues ADD COLUMN phase INTEGER NOT NULL DEFAULT 0;     -- 0 open, 1 draining, 2 deleted
ALTER TABLE queues ADD COLUMN config TEXT NOT NULL DEFAULT '';
ALTER TABLE queues ADD COLUMN effective TEXT NOT NULL DEFAULT '';

PRAGMA user_version = 2;
