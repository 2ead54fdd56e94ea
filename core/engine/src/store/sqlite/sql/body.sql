SELECT body, retry, timeout_ms, grace_ms, visibility_ms FROM bodies WHERE seq = ?1
