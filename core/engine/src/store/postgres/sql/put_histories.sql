INSERT INTO ojs_histories (seq, errors, result) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])
ON CONFLICT (seq) DO UPDATE SET errors = excluded.errors, result = excluded.result
