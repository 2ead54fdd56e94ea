-- Version 3: answers that are given again to a request with the same idempotency key.
CREATE TABLE answers (name TEXT PRIMARY KEY, digest BLOB NOT NULL, status INTEGER NOT NULL, body TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX answers_at ON answers (at);
PRAGMA user_version = 3;
