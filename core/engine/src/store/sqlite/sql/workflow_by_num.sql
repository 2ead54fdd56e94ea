SELECT num, id, shape, name, state, total, completed, ended, callbacks_left, callback_failed, parent, parent_step, inherited, created_at, started_at, finished_at
FROM workflows WHERE num = ?1
