INSERT INTO steps (workflow, idx, name, state, request, child, job, after, result, finished_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
ON CONFLICT (workflow, idx) DO UPDATE SET state = excluded.state, job = excluded.job, result = excluded.result, finished_at = excluded.finished_at
