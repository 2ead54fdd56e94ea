SELECT name FROM kinds WHERE num = ?1
