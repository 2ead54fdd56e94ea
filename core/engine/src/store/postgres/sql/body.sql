SELECT body, retry, timeout_ms, grace_ms, visibility_ms FROM ojs_jobs WHERE seq = $1
