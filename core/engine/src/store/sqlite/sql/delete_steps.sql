DELETE FROM steps WHERE workflow = ?1
