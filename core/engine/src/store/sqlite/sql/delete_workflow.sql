DELETE FROM workflows WHERE num = ?1
