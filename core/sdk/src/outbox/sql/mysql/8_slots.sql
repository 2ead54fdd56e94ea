INSERT IGNORE INTO ojs_outbox_gate (slot)
WITH RECURSIVE slots (slot) AS (SELECT 0 UNION ALL SELECT slot + 1 FROM slots WHERE slot < 255)
SELECT slot FROM slots
