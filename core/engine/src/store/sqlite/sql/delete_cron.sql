DELETE FROM crons WHERE name = ?1
