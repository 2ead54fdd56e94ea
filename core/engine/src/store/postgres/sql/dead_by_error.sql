SELECT coalesce(h.errors::json -> -1 ->> 'type', ''), count(*)
FROM ojs_runs r JOIN ojs_histories h ON h.seq = r.seq
WHERE r.place = 7 AND r.flags & 1 = 1 AND h.errors <> '' AND ($1::bigint IS NULL OR r.tenant = $1) GROUP BY 1
