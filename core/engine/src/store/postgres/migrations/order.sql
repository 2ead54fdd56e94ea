-- For new databases only, after all migrations: the columns of ojs_runs in an order in which rows are cheap to read.
--
-- PostgreSQL knows where a column stands when all columns before it have one width and are never empty. Behind a column of another
-- kind, here ukey, it walks through the row each time, and an update looks at every column of every index. So the wide columns come
-- first, then the narrow ones, and what may be empty is last. Databases of earlier versions keep their order: statements name columns.
DO $$
DECLARE
  runs CONSTANT regclass := 'ojs_runs';
  columns text;
  options text := (SELECT array_to_string(reloptions, ', ') FROM pg_class WHERE oid = runs);
  active text := pg_get_viewdef('ojs_active'::regclass);
  indexes text[] := ARRAY (SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = runs AND NOT indisprimary ORDER BY indexrelid);
  definition text;
BEGIN
  SELECT string_agg(
    format('%I %s%s%s', attname, format_type(atttypid, atttypmod), CASE WHEN attnotnull THEN ' NOT NULL' END,
      CASE WHEN attgenerated = 's' THEN format(' GENERATED ALWAYS AS (%s) STORED', pg_get_expr(adbin, adrelid))
           WHEN adbin IS NOT NULL THEN ' DEFAULT ' || pg_get_expr(adbin, adrelid) END),
    ', ' ORDER BY attnotnull DESC, attlen < 0, position(attalign::text IN 'dcis'), attnum)
  INTO columns
  FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE attrelid = runs AND attnum > 0 AND NOT attisdropped;
  DROP VIEW ojs_active;
  DROP TABLE ojs_runs;
  EXECUTE format('CREATE TABLE ojs_runs (%s, PRIMARY KEY (seq)) WITH (%s)', columns, options);
  FOREACH definition IN ARRAY indexes LOOP
    EXECUTE definition;
  END LOOP;
  EXECUTE 'CREATE VIEW ojs_active AS ' || active;
END
$$;
