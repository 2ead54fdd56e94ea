SELECT {JOB}
FROM ojs_runs WHERE TRUE AND ($1::bigint IS NULL OR queue = $1)
  AND ($2::text IS NULL OR kind IN (SELECT num FROM ojs_kinds WHERE name = $2 OR right($2, 1) = '*' AND starts_with(name, left($2, -1))))
  AND ($3::bigint IS NULL OR created_at >= $3) AND ($4::bigint IS NULL OR created_at < $4)
  AND ($8::bigint IS NULL OR tenant = $8)
  AND seq > $7
ORDER BY seq DESC LIMIT $5 OFFSET $6
