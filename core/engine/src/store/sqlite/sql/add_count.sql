INSERT INTO counts (queue, state, jobs) VALUES (?1, ?2, ?3)
ON CONFLICT (queue, state) DO UPDATE SET jobs = jobs + excluded.jobs
