SELECT coalesce(json_extract(errors, '$[#-1].type'), ''), count(*)
FROM jobs JOIN histories ON histories.seq = jobs.seq
WHERE jobs.flags & 1 AND (?1 IS NULL OR jobs.tenant = ?1) GROUP BY 1
