INSERT INTO settings (name, value) VALUES ('next_lease', 1 + ?1)
ON CONFLICT (name) DO UPDATE SET value = value + ?1
RETURNING value - ?1
