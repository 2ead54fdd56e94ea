SELECT num, tenant, key, policy, override, override_until, starts, last_at, held_until, open_at FROM ojs_limits WHERE open_at > 0 AND open_at <= $1 ORDER BY open_at LIMIT $2 FOR UPDATE SKIP LOCKED
