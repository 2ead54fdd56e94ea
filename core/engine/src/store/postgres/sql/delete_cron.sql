DELETE FROM ojs_crons WHERE name = $1
