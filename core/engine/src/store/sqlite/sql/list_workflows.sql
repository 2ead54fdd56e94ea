SELECT num, id, shape, name, state, total, completed, ended, callbacks_left, callback_failed, parent, parent_step, inherited, created_at, started_at, finished_at
FROM workflows WHERE parent = 0 AND (?1 IS NULL OR state = ?1) ORDER BY num DESC LIMIT ?2 OFFSET ?3
