INSERT INTO kinds (name) VALUES (?1)
