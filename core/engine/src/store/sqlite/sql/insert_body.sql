INSERT INTO bodies (seq, body, retry, timeout_ms, grace_ms, visibility_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
