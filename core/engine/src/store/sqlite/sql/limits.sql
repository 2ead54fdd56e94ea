SELECT num, tenant, key, policy, override, override_until, starts, last_at, held_until, open_at FROM limits WHERE ?1 IS NULL OR key = ?1 ORDER BY key, tenant LIMIT ?2 OFFSET ?3
