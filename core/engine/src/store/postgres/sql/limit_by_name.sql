SELECT num, tenant, key, policy, override, override_until, starts, last_at, held_until, open_at FROM ojs_limits WHERE key = $2 AND tenant = $1
