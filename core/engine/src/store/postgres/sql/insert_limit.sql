INSERT INTO ojs_limits (tenant, key) VALUES ($1, $2) ON CONFLICT (key, tenant) DO NOTHING
