SELECT num FROM kinds WHERE name = ?1
