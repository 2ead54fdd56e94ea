SELECT id FROM workers WHERE num = ?1
