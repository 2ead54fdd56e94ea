-- Version 7. The key of the line in which a job stands, 0 for none. The index holds jobs of shared queues only.
ALTER TABLE ojs_runs ADD COLUMN fair bigint NOT NULL DEFAULT 0;
CREATE INDEX ojs_runs_fair ON ojs_runs (queue, nprio, fair, line) WHERE fair > 0 AND place = 1;
