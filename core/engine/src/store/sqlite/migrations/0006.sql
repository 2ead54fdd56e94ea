-- Version 6: the key of the line in which a job stands, 0 for none. The index holds jobs of shared queues only.
ALTER TABLE jobs ADD COLUMN fair INTEGER NOT NULL DEFAULT 0;
CREATE INDEX jobs_fair ON jobs (queue, nprio, fair, pos) WHERE fair > 0 AND state = 1;
PRAGMA user_version = 6;
