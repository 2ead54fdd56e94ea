-- Version 1. The fixed part of a job (ojs_jobs) is written once; the changing part (ojs_runs) is what claims and acks rewrite: 150 bytes,
-- never the arguments. Partial indexes hold only what waits or runs, so finished jobs cost a claim nothing.
--
-- Every statement of a migration must be safe while the version before it still runs: add, with defaults; never rename, never tighten.

-- Job numbers: milliseconds since 2020, then 12 bits of counter, then 10 bits of node, so that nodes need not agree on a sequence and newest
-- first is newest first everywhere. 1023 is the node of rows inserted by plain SQL.
CREATE SEQUENCE ojs_raw_seq MAXVALUE 4095 MINVALUE 0 CYCLE;
CREATE FUNCTION ojs_next_seq() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT (((extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1577836800000) << 22) | (nextval('ojs_raw_seq') << 10) | 1023
$$;
-- UUIDv7: 48 bits of milliseconds, version 7, the rest random.
CREATE FUNCTION ojs_new_id() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid
$$;

-- An application may insert here inside its own transaction:
--   INSERT INTO ojs_jobs (type, args, queue) VALUES ('email.welcome', '[1]', 'email') RETURNING id;
-- After its commit a node takes the row in (body is then no longer null) and the job is available; after a rollback there is none.
CREATE TABLE ojs_jobs (
  seq           bigint PRIMARY KEY DEFAULT ojs_next_seq(),
  id            uuid   NOT NULL UNIQUE DEFAULT ojs_new_id(),
  type          text,
  args          json,
  queue         text   DEFAULT 'default',
  meta          json,
  options       json,
  body          text,
  retry         text,
  timeout_ms    bigint NOT NULL DEFAULT 0,
  grace_ms      bigint NOT NULL DEFAULT 0,
  visibility_ms bigint NOT NULL DEFAULT 0,
  CONSTRAINT ojs_jobs_type CHECK (body IS NOT NULL OR type IS NOT NULL AND length(type) <= 255 AND type ~ '^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)*$'),
  CONSTRAINT ojs_jobs_args CHECK (body IS NOT NULL OR args IS NOT NULL AND json_typeof(args) = 'array'),
  CONSTRAINT ojs_jobs_queue CHECK (body IS NOT NULL OR queue IS NOT NULL AND length(queue) <= 128 AND queue ~ '^[a-z0-9][a-z0-9.-]*$'),
  CONSTRAINT ojs_jobs_meta CHECK (meta IS NULL OR json_typeof(meta) = 'object'),
  CONSTRAINT ojs_jobs_options CHECK (options IS NULL OR json_typeof(options) = 'object')
);
CREATE INDEX ojs_jobs_raw ON ojs_jobs (seq) WHERE body IS NULL;

CREATE TABLE ojs_runs (
  seq          bigint   PRIMARY KEY,
  id           uuid     NOT NULL,
  queue        bigint   NOT NULL,
  kind         bigint   NOT NULL,
  state        smallint NOT NULL,
  nprio        smallint NOT NULL,  -- minus the priority: the index runs upwards
  attempt      integer  NOT NULL,
  releases     integer  NOT NULL,
  max_attempts integer  NOT NULL,
  flags        integer  NOT NULL,
  pos          bigint   NOT NULL,  -- ticket, due time, deadline or end, by state
  lease        bigint   NOT NULL,
  worker       bigint   NOT NULL,
  lease_ms     bigint   NOT NULL,
  lease_until  bigint   NOT NULL,
  deadline     bigint   NOT NULL,
  created_at   bigint   NOT NULL,
  enqueued_at  bigint   NOT NULL,
  started_at   bigint   NOT NULL,
  finished_at  bigint   NOT NULL,
  activated_at bigint   NOT NULL,
  expires_at   bigint   NOT NULL,
  retry_delay  bigint   NOT NULL,
  workflow     bigint   NOT NULL,
  step         bigint   NOT NULL,
  ukey         bytea
);
CREATE INDEX ojs_runs_ready ON ojs_runs (queue, nprio, pos) WHERE state = 1;
-- What time moves on: scheduled, retryable (due time) and active (next deadline).
CREATE INDEX ojs_runs_timed ON ojs_runs (state, pos) WHERE state IN (0, 3, 5);
CREATE INDEX ojs_runs_held ON ojs_runs (worker) WHERE worker > 0;
CREATE INDEX ojs_runs_expiring ON ojs_runs (expires_at) WHERE expires_at > 0;
CREATE INDEX ojs_runs_unique ON ojs_runs (ukey, state, created_at) WHERE ukey IS NOT NULL;
-- Lists of the rarer states do not read the others.
CREATE INDEX ojs_runs_pending ON ojs_runs (seq) WHERE state = 2;
CREATE INDEX ojs_runs_cancelled ON ojs_runs (seq) WHERE state = 6;
CREATE INDEX ojs_runs_discarded ON ojs_runs (seq) WHERE state = 7;
CREATE INDEX ojs_runs_dead ON ojs_runs (finished_at) WHERE flags & 1 = 1;

CREATE TABLE ojs_histories (seq bigint PRIMARY KEY, errors text NOT NULL, result text NOT NULL);

CREATE TABLE ojs_workflows (
  num             bigint   GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id              uuid     NOT NULL UNIQUE,
  shape           smallint NOT NULL,
  name            text,
  state           smallint NOT NULL,
  total           bigint   NOT NULL,
  completed       bigint   NOT NULL,
  ended           bigint   NOT NULL,
  callbacks_left  bigint   NOT NULL,
  callback_failed boolean  NOT NULL,
  parent          bigint   NOT NULL,
  parent_step     bigint   NOT NULL,
  inherited       text     NOT NULL,
  created_at      bigint   NOT NULL,
  started_at      bigint   NOT NULL,
  finished_at     bigint   NOT NULL
);
CREATE INDEX ojs_workflows_ended ON ojs_workflows (finished_at) WHERE finished_at > 0;
CREATE TABLE ojs_steps (
  workflow    bigint   NOT NULL,
  idx         bigint   NOT NULL,  -- callbacks are -1, -2, -3
  name        text,
  state       smallint NOT NULL,
  request     text     NOT NULL,
  child       bigint   NOT NULL,
  job         uuid,
  after       text     NOT NULL,
  result      text     NOT NULL,
  finished_at bigint   NOT NULL,
  PRIMARY KEY (workflow, idx)
);
CREATE TABLE ojs_crons (
  name        text     PRIMARY KEY,
  expression  text     NOT NULL,
  timezone    text     NOT NULL,
  overlap     smallint NOT NULL,
  enabled     boolean  NOT NULL,
  description text,
  template    text     NOT NULL,
  created_at  bigint   NOT NULL,
  next_at     bigint   NOT NULL,
  last_at     bigint   NOT NULL,
  run_count   bigint   NOT NULL,
  last_job    uuid,
  waiting     bigint   NOT NULL
);
CREATE INDEX ojs_crons_next ON ojs_crons (next_at) WHERE next_at > 0;
CREATE TABLE ojs_queues (
  num        bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name       text             NOT NULL UNIQUE,
  paused     boolean          NOT NULL DEFAULT false,
  created_at bigint           NOT NULL,
  rate       double precision NOT NULL DEFAULT 0,  -- jobs per second, 0 for no limit; tokens and filled_at are its bucket
  tokens     double precision NOT NULL DEFAULT 0,
  filled_at  bigint           NOT NULL DEFAULT 0,
  burst      double precision NOT NULL DEFAULT 0,  -- most tokens of the bucket, 0 for a second's worth
  phase      smallint         NOT NULL DEFAULT 0,  -- 0 open, 1 draining, 2 deleted
  -- config is what an operator set, effective the same over the template; both JSON, empty for none.
  config     text             NOT NULL DEFAULT '',
  effective  text             NOT NULL DEFAULT ''
);
-- Each writer adds to a shard of its own: a shared row would make every commit wait for every other.
CREATE TABLE ojs_counts (queue bigint NOT NULL, state smallint NOT NULL, shard smallint NOT NULL, jobs bigint NOT NULL, PRIMARY KEY (queue, state, shard))
  WITH (fillfactor = 50);
CREATE TABLE ojs_kinds (num bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE);
CREATE TABLE ojs_workers (
  num       bigint   GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id        text     NOT NULL UNIQUE,
  phase     smallint NOT NULL DEFAULT 0,  -- what it reported: 0 running, 1 quiet, 2 terminate
  beat_at   bigint   NOT NULL DEFAULT 0,  -- latest heartbeat, 0 when it never sent one
  directive smallint NOT NULL DEFAULT 0,  -- what an operator wants, numbers as in phase
  first_at  bigint   NOT NULL DEFAULT 0,  -- first heartbeat
  info      text     NOT NULL DEFAULT '{}', -- what it says of itself
  made_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX ojs_workers_beating ON ojs_workers (beat_at) WHERE beat_at > 0;
-- One row per commit: all its events, one a line. Readers stop before a number whose transaction may still be under way.
CREATE TABLE ojs_events (
  seq   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at    bigint NOT NULL,
  xid   xid8   NOT NULL DEFAULT pg_current_xact_id(),
  count bigint NOT NULL,
  lines text   NOT NULL
);
CREATE TABLE ojs_maintenance (one boolean PRIMARY KEY DEFAULT true CHECK (one), reason text NOT NULL, since bigint NOT NULL, until bigint NOT NULL);
-- What happened by minute or hour, queue and node; spread of run and waiting times as class:count pairs.
CREATE TABLE ojs_stats (
  span      bigint NOT NULL,
  at        bigint NOT NULL,
  queue     bigint NOT NULL,
  node      bigint NOT NULL,
  enqueued  bigint NOT NULL,
  completed bigint NOT NULL,
  failed    bigint NOT NULL,
  discarded bigint NOT NULL,
  run       text   NOT NULL,
  wait      text   NOT NULL,
  PRIMARY KEY (span, at, queue, node)
);
CREATE SEQUENCE ojs_lease_seq;
CREATE SEQUENCE ojs_node_seq MINVALUE 0 MAXVALUE 1022 CYCLE;
-- Grows with every change to queues that other nodes must see at once.
CREATE TABLE ojs_epoch (one boolean PRIMARY KEY DEFAULT true CHECK (one), value bigint NOT NULL);
INSERT INTO ojs_epoch (value) VALUES (1);
-- Who maintains. Every maintenance transaction begins by renewing this row, so a node whose term has ended cannot write.
CREATE TABLE ojs_leader (one boolean PRIMARY KEY DEFAULT true CHECK (one), node text NOT NULL, term bigint NOT NULL, until timestamptz NOT NULL);
INSERT INTO ojs_leader (node, term, until) VALUES ('', 0, 'epoch');

-- Rows are rewritten twice in their lives: let vacuum follow closely.
ALTER TABLE ojs_runs SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.2, autovacuum_vacuum_cost_delay = 0);
