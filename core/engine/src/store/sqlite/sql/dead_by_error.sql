SELECT coalesce(json_extract(errors, '$[#-1].type'), ''), count(*)
FROM (SELECT seq, tenant FROM jobs WHERE flags & 1 ORDER BY finished_at DESC LIMIT ?2) AS newest JOIN histories ON histories.seq = newest.seq
WHERE (?1 IS NULL OR newest.tenant = ?1) GROUP BY 1
