-- Version 5: the version of a job, and the lines of available jobs that have one. The version before does not know the bit that such jobs
-- have in nprio, so it leaves them to nodes of this version.
ALTER TABLE ojs_runs ADD COLUMN version bigint NOT NULL DEFAULT 0;  -- rank of the version plus 1, 0 for none
CREATE INDEX ojs_runs_versions ON ojs_runs (queue, kind, version, nprio, line) WHERE version > 0 AND place = 1;
