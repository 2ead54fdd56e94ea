INSERT INTO ojs_jobs (seq, id, queue, body, retry, timeout_ms, grace_ms, visibility_ms)
SELECT seq, id, NULL, body, retry, timeout_ms, grace_ms, visibility_ms
FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[]) AS new (seq, id, body, retry, timeout_ms, grace_ms, visibility_ms)
ON CONFLICT (id) DO NOTHING
