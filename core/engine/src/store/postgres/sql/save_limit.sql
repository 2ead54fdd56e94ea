UPDATE ojs_limits SET policy = $2, override = $3, override_until = $4, starts = $5, last_at = $6, held_until = $7, open_at = $8 WHERE num = $1
