SELECT digest, status, body, at FROM ojs_answers WHERE name = $1
