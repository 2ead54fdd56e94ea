UPDATE bodies SET body = ?2, retry = ?3, timeout_ms = ?4, grace_ms = ?5, visibility_ms = ?6 WHERE seq = ?1
