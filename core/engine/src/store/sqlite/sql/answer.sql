SELECT digest, status, body, at FROM answers WHERE name = ?1
