SELECT num, tenant, key, policy, override, override_until, starts, last_at, held_until, open_at FROM ojs_limits WHERE $1::text IS NULL OR key = $1 ORDER BY key, tenant LIMIT $2 OFFSET $3
