UPDATE ojs_leader SET node = $1, term = term + (node <> $1)::int, until = clock_timestamp() + interval '1500 ms'
WHERE node = $1 OR until < clock_timestamp() RETURNING term
