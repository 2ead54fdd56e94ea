-- Version 4: the version of a job, and the lines of available jobs that have one.
ALTER TABLE jobs ADD COLUMN version INTEGER NOT NULL DEFAULT 0;  -- rank of the version plus 1, 0 for none
CREATE INDEX jobs_versions ON jobs (queue, kind, version, nprio, pos) WHERE version > 0 AND state = 1;
PRAGMA user_version = 4;
