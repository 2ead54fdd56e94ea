SELECT COUNT(IF(place = 0, 1, NULL)),
    CAST(TIMESTAMPDIFF(MICROSECOND, MIN(IF(place = 0, created_at, NULL)), UTC_TIMESTAMP(6)) DIV 1000 AS SIGNED),
    COUNT(IF(place = 2, 1, NULL))
FROM ojs_outbox WHERE place IN (0, 2)
