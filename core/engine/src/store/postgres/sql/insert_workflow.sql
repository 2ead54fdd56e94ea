INSERT INTO ojs_workflows (id, shape, name, state, total, completed, ended, callbacks_left, callback_failed, parent, parent_step, inherited, created_at, started_at, finished_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
ON CONFLICT (id) DO NOTHING RETURNING num
