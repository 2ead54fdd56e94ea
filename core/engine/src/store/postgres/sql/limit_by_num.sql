SELECT num, tenant, key, policy, override, override_until, starts, last_at, held_until, open_at FROM ojs_limits WHERE num = $1 FOR UPDATE
