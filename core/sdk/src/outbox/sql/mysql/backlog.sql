SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM ojs_outbox WHERE place = 0 LIMIT 10001) AS waiting),
    (SELECT CAST(TIMESTAMPDIFF(MICROSECOND, created_at, UTC_TIMESTAMP(6)) DIV 1000 AS SIGNED)
        FROM ojs_outbox FORCE INDEX (idx_ojs_outbox_place) WHERE place = 0 ORDER BY id LIMIT 1),
    (SELECT COUNT(*) FROM (SELECT 1 FROM ojs_outbox WHERE place = 2 LIMIT 10001) AS parked)
