SELECT count(*) FROM limits WHERE ?1 IS NULL OR key = ?1
