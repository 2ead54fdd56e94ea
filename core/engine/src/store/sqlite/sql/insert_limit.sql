INSERT INTO limits (tenant, key) VALUES (?1, ?2)
