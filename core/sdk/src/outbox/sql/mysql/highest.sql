SELECT MAX(id) FROM (
    SELECT id FROM ojs_outbox FORCE INDEX (idx_ojs_outbox_place) WHERE place = 0 AND id > :after ORDER BY id LIMIT 1000
) next
