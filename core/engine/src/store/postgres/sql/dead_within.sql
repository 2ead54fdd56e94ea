SELECT {JOB} FROM (
    SELECT * FROM ojs_runs WHERE place = 7 AND flags & 1 = 1 AND (line, seq) < ($9, $10) ORDER BY line DESC, seq DESC LIMIT $11
  ) AS ojs_runs
WHERE ($1::bigint IS NULL OR queue = $1) AND ($2::text IS NULL OR kind IN (SELECT num FROM ojs_kinds WHERE name = $2 OR right($2, 1) = '*' AND starts_with(name, left($2, -1))))
  AND ($3::bigint IS NULL OR line >= $3) AND ($4::bigint IS NULL OR line < $4)
  AND ($5::text IS NULL OR EXISTS (SELECT 1 FROM ojs_histories h WHERE h.seq = ojs_runs.seq AND h.errors <> '' AND h.errors::json -> -1 ->> 'type' = $5))
  AND ($8::bigint IS NULL OR tenant = $8)
ORDER BY line DESC, seq DESC LIMIT $6 OFFSET $7
