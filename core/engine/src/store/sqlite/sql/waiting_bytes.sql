SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM jobs JOIN bodies ON bodies.seq = jobs.seq
WHERE queue = ?1 AND state = ?2
