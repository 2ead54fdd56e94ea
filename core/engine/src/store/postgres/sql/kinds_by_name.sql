SELECT num, name FROM ojs_kinds WHERE name = ANY($1)
