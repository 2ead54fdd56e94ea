-- Version 1. The changing part of a job, its fixed part and its history are separate tables: a claim and an ack rewrite 100 bytes, not the
-- arguments. Partial indexes hold only what is waiting or running, so finished jobs cost a claim nothing.
CREATE TABLE jobs (
  seq          INTEGER PRIMARY KEY,
  id           BLOB    NOT NULL,
  queue        INTEGER NOT NULL,
  kind         INTEGER NOT NULL,
  state        INTEGER NOT NULL,
  nprio        INTEGER NOT NULL,  -- minus the priority: the index runs upwards
  pos          INTEGER NOT NULL,  -- ticket, due time, deadline or end, by state
  attempt      INTEGER NOT NULL,
  releases     INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  lease        INTEGER NOT NULL,
  worker       INTEGER NOT NULL,
  lease_ms     INTEGER NOT NULL,
  lease_until  INTEGER NOT NULL,
  deadline     INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  enqueued_at  INTEGER NOT NULL,
  started_at   INTEGER NOT NULL,
  finished_at  INTEGER NOT NULL,
  activated_at INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  retry_delay  INTEGER NOT NULL,
  flags        INTEGER NOT NULL,
  workflow     INTEGER NOT NULL,  -- number of the workflow it is a step of, 0 for none
  step         INTEGER NOT NULL,
  ukey         BLOB               -- uniqueness key, for jobs with a policy
);
CREATE UNIQUE INDEX jobs_id ON jobs (id);
CREATE INDEX jobs_ready ON jobs (queue, nprio, pos) WHERE state = 1;
CREATE INDEX jobs_scheduled ON jobs (pos) WHERE state = 0;
CREATE INDEX jobs_retryable ON jobs (pos) WHERE state = 5;
CREATE INDEX jobs_active ON jobs (pos) WHERE state = 3;
CREATE INDEX jobs_expiring ON jobs (expires_at) WHERE expires_at > 0;
CREATE INDEX jobs_unique ON jobs (ukey, state, created_at) WHERE ukey IS NOT NULL;
CREATE INDEX jobs_dead ON jobs (finished_at) WHERE flags & 1;

CREATE TABLE bodies (
  seq           INTEGER PRIMARY KEY,
  body          TEXT    NOT NULL,
  retry         TEXT,
  timeout_ms    INTEGER NOT NULL,
  grace_ms      INTEGER NOT NULL,
  visibility_ms INTEGER NOT NULL
);
CREATE TABLE histories (seq INTEGER PRIMARY KEY, errors TEXT NOT NULL, result TEXT NOT NULL);
CREATE TABLE workflows (
  num             INTEGER PRIMARY KEY,
  id              BLOB    NOT NULL UNIQUE,
  shape           INTEGER NOT NULL,
  name            TEXT,
  state           INTEGER NOT NULL,
  total           INTEGER NOT NULL,
  completed       INTEGER NOT NULL,
  ended           INTEGER NOT NULL,
  callbacks_left  INTEGER NOT NULL,
  callback_failed INTEGER NOT NULL,
  parent          INTEGER NOT NULL,
  parent_step     INTEGER NOT NULL,
  inherited       TEXT    NOT NULL,
  created_at      INTEGER NOT NULL,
  started_at      INTEGER NOT NULL,
  finished_at     INTEGER NOT NULL
);
CREATE INDEX workflows_ended ON workflows (finished_at) WHERE finished_at > 0;
CREATE TABLE steps (
  workflow    INTEGER NOT NULL,
  idx         INTEGER NOT NULL,  -- callbacks are -1, -2, -3
  name        TEXT,
  state       INTEGER NOT NULL,
  request     TEXT    NOT NULL,
  child       INTEGER NOT NULL,
  job         BLOB,
  after       TEXT    NOT NULL,
  result      TEXT    NOT NULL,
  finished_at INTEGER NOT NULL,
  PRIMARY KEY (workflow, idx)
) WITHOUT ROWID;
CREATE TABLE crons (
  name        TEXT    PRIMARY KEY,
  expression  TEXT    NOT NULL,
  timezone    TEXT    NOT NULL,
  overlap     INTEGER NOT NULL,
  enabled     INTEGER NOT NULL,
  description TEXT,
  template    TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  next_at     INTEGER NOT NULL,
  last_at     INTEGER NOT NULL,
  run_count   INTEGER NOT NULL,
  last_job    BLOB,
  waiting     INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX crons_next ON crons (next_at) WHERE next_at > 0;
CREATE INDEX crons_waiting ON crons (waiting) WHERE waiting > 0;
CREATE TABLE queues (
  num        INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL UNIQUE,
  paused     INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  rate       REAL    NOT NULL,  -- jobs per second, 0 for no limit; tokens and filled_at are its bucket
  tokens     REAL    NOT NULL,
  filled_at  INTEGER NOT NULL
);
CREATE TABLE counts (queue INTEGER NOT NULL, state INTEGER NOT NULL, jobs INTEGER NOT NULL, PRIMARY KEY (queue, state)) WITHOUT ROWID;
CREATE TABLE kinds (num INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE workers (
  num       INTEGER PRIMARY KEY AUTOINCREMENT,
  id        TEXT    NOT NULL UNIQUE,
  phase     INTEGER NOT NULL,  -- what it reported: 0 running, 1 quiet, 2 terminate
  beat_at   INTEGER NOT NULL,  -- latest heartbeat, 0 when it never sent one
  directive INTEGER NOT NULL   -- what an operator wants, numbers as in phase
);
CREATE INDEX workers_beating ON workers (beat_at) WHERE beat_at > 0;
-- One row per commit: all its events, one a line. upto counts events from the beginning of the log.
CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, upto INTEGER NOT NULL, lines TEXT NOT NULL);
CREATE TABLE settings (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
PRAGMA user_version = 1;
