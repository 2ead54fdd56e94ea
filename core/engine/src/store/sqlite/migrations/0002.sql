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

-- Keys with limits (tenant is empty for everybody's), the log of their starts, and their jobs: those that wait and those that run.
CREATE TABLE limits (
  num            INTEGER PRIMARY KEY,
  tenant         TEXT    NOT NULL,
  key            TEXT    NOT NULL,
  policy         TEXT    NOT NULL DEFAULT '{}',
  override       TEXT    NOT NULL DEFAULT '',
  override_until INTEGER NOT NULL DEFAULT 0,
  starts         INTEGER NOT NULL DEFAULT 0,  -- number of the latest start in the log
  last_at        INTEGER NOT NULL DEFAULT 0,
  held_until     INTEGER NOT NULL DEFAULT 0,
  open_at        INTEGER NOT NULL DEFAULT 0,  -- when time alone lets more start
  UNIQUE (key, tenant)
);
CREATE INDEX limits_open ON limits (open_at) WHERE open_at > 0;
CREATE TABLE limit_starts (limited INTEGER NOT NULL, number INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (limited, number)) WITHOUT ROWID;
CREATE INDEX limit_starts_at ON limit_starts (limited, at);
ALTER TABLE jobs ADD COLUMN limited INTEGER NOT NULL DEFAULT 0;  -- number of the key, 0 for none
CREATE INDEX jobs_limited ON jobs (limited, queue, nprio, pos) WHERE limited > 0 AND state = 1;
CREATE INDEX jobs_limited_active ON jobs (limited) WHERE limited > 0 AND state = 3;

PRAGMA user_version = 2;
