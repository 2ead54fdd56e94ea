DELETE FROM ojs_workers WHERE num = $1
