SELECT coalesce(h.errors::json -> -1 ->> 'type', ''), count(*)
FROM ojs_runs r JOIN ojs_histories h ON h.seq = r.seq
WHERE r.place = 7 AND r.flags & 1 = 1 AND h.errors <> '' GROUP BY 1
