INSERT INTO ojs_stats (at, span, queue, node, enqueued, completed, failed, discarded, run, wait)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::text[], $10::text[])
ON CONFLICT (span, at, queue, node) DO UPDATE SET enqueued = excluded.enqueued, completed = excluded.completed, failed = excluded.failed, discarded = excluded.discarded, run = excluded.run, wait = excluded.wait
