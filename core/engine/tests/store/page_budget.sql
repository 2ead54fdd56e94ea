-- Copies of the jobs that are there, until there are a million: nine of ten completed, the others as they wait or failed.
DO $$
DECLARE
  part record;
  sample bigint;
  base bigint;
  copied text;
  name text;
BEGIN
  FOR part IN SELECT * FROM (VALUES (4, 830000), (0, 50000), (7, 109990), (1, 10000)) AS parts (state, jobs) LOOP
    EXECUTE format('SELECT min(seq) FROM ojs_runs WHERE state = %s', part.state) INTO sample;
    SELECT min(seq) INTO base FROM ojs_runs;
    FOREACH name IN ARRAY ARRAY['ojs_jobs', 'ojs_runs', 'ojs_histories'] LOOP
      SELECT string_agg(quote_ident(column_name), ', ') INTO copied FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name = name AND is_generated = 'NEVER' AND column_name NOT IN ('seq', 'id');
      EXECUTE format('INSERT INTO %I (seq, %s %s) SELECT %s - i, %s %s FROM generate_series(1, %s) AS i, %I WHERE seq = %s',
        name, CASE WHEN name = 'ojs_histories' THEN '' ELSE 'id,' END, copied, base,
        CASE WHEN name = 'ojs_histories' THEN '' ELSE 'gen_random_uuid(),' END, copied, part.jobs, name, sample);
    END LOOP;
    EXECUTE format('UPDATE ojs_counts SET jobs = jobs + %s WHERE ctid = (SELECT ctid FROM ojs_counts WHERE state = %s AND jobs > 0 LIMIT 1)',
      part.jobs, part.state);
  END LOOP;
  -- The number of dead letters is kept beside those of the states. They died one after the other.
  UPDATE ojs_counts SET jobs = jobs + 109990 WHERE ctid = (SELECT ctid FROM ojs_counts WHERE state = 8 AND jobs > 0 LIMIT 1);
  SELECT max(seq) INTO base FROM ojs_runs WHERE place = 7;
  UPDATE ojs_runs SET finished_at = finished_at + seq - base WHERE place = 7;
END $$;
ANALYZE;
