SELECT num, tenant, key, policy, override, override_until, starts, last_at, held_until, open_at FROM limits WHERE tenant = ?1 AND key = ?2
