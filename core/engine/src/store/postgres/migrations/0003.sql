-- Version 3: answers that are given again to a request with the same idempotency key.
CREATE TABLE ojs_answers (name text PRIMARY KEY, digest bytea NOT NULL, status smallint NOT NULL, body text NOT NULL, at bigint NOT NULL);
CREATE INDEX ojs_answers_at ON ojs_answers (at);
