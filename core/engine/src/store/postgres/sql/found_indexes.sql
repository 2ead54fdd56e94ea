SELECT t.name,
       ARRAY (SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (num, place)
              JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.num ORDER BY k.place),
       i.indisunique, i.indpred IS NOT NULL
FROM unnest($1) AS t (name) JOIN pg_index i ON i.indrelid = to_regclass(t.name) AND NOT i.indisprimary
