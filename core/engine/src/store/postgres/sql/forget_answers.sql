DELETE FROM ojs_answers WHERE at < $1
