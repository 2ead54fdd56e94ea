SELECT coalesce(h.errors::json -> -1 ->> 'type', ''), count(*)
FROM (SELECT seq, tenant FROM ojs_runs WHERE place = 7 AND flags & 1 = 1 ORDER BY line DESC LIMIT $2) AS newest JOIN ojs_histories h ON h.seq = newest.seq
WHERE h.errors <> '' AND ($1::bigint IS NULL OR newest.tenant = $1) GROUP BY 1
