DELETE FROM ojs_jobs WHERE seq = ANY (ARRAY (SELECT seq FROM ojs_jobs WHERE body IS NULL AND queue <> ALL ($2) ORDER BY seq LIMIT $1 FOR UPDATE SKIP LOCKED))
RETURNING seq, id, type, args::text, queue, meta::text, options::text
