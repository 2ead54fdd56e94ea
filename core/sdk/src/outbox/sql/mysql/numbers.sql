SELECT id FROM ojs_outbox FORCE INDEX (idx_ojs_outbox_place) WHERE place = 0 AND id > :after AND id <= :upto ORDER BY id
