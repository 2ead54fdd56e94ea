SELECT name FROM ojs_kinds WHERE num = $1
