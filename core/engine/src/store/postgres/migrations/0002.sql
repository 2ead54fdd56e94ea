-- Version 2. Keys with limits (tenant is empty for everybody's), the log of their starts, and their jobs: those that wait and those that run.
CREATE TABLE ojs_limits (
  num            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant         text   NOT NULL,
  key            text   NOT NULL,
  policy         text   NOT NULL DEFAULT '{}',
  override       text   NOT NULL DEFAULT '',
  override_until bigint NOT NULL DEFAULT 0,
  starts         bigint NOT NULL DEFAULT 0,  -- number of the latest start in the log
  last_at        bigint NOT NULL DEFAULT 0,
  held_until     bigint NOT NULL DEFAULT 0,
  open_at        bigint NOT NULL DEFAULT 0,  -- when time alone lets more start
  UNIQUE (key, tenant)
);
CREATE INDEX ojs_limits_open ON ojs_limits (open_at) WHERE open_at > 0;
CREATE TABLE ojs_limit_starts (limited bigint NOT NULL, number bigint NOT NULL, at bigint NOT NULL, PRIMARY KEY (limited, number));
CREATE INDEX ojs_limit_starts_at ON ojs_limit_starts (limited, at);
ALTER TABLE ojs_runs ADD COLUMN limited bigint NOT NULL DEFAULT 0;  -- number of the key, 0 for none
CREATE INDEX ojs_runs_limited ON ojs_runs (limited, queue, nprio, pos) WHERE limited > 0 AND state = 1;
CREATE INDEX ojs_runs_limited_active ON ojs_runs (limited) WHERE limited > 0 AND state = 3;
