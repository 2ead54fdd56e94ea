INSERT INTO ojs_queues (name, created_at) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING
