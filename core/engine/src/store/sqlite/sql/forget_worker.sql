DELETE FROM workers WHERE num = ?1
