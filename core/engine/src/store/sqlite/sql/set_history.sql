INSERT INTO histories (seq, errors, result) VALUES (?1, ?2, ?3)
ON CONFLICT (seq) DO UPDATE SET errors = excluded.errors, result = excluded.result
