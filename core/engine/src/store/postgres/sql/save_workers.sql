UPDATE ojs_workers w SET phase = u.phase, beat_at = u.beat_at, directive = u.directive, first_at = u.first_at, info = u.info
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[]) AS u (num, phase, beat_at, directive, first_at, info)
WHERE w.num = u.num
