UPDATE ojs_workflows SET state = $2, completed = $3, ended = $4, callbacks_left = $5, callback_failed = $6, inherited = $7, started_at = $8, finished_at = $9
WHERE num = $1
