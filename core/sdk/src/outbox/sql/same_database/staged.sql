SELECT CAST(id AS text) AS id, type, CAST(args AS text) AS args, CAST(
  COALESCE(CAST(options AS jsonb), '{}')
    || CASE WHEN queue = 'default' THEN '{}' ELSE jsonb_build_object('queue', queue) END
    || CASE WHEN meta IS NULL THEN '{}' ELSE jsonb_build_object('meta', CAST(meta AS jsonb)) END
  AS text) AS options
FROM ojs_jobs WHERE body IS NULL ORDER BY seq
