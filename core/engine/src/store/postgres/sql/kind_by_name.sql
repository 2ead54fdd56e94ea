SELECT num FROM ojs_kinds WHERE name = $1
