DELETE FROM answers WHERE at < ?1
