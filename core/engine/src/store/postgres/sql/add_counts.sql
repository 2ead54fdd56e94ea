INSERT INTO ojs_counts (queue, state, shard, jobs) SELECT queue, state, $1, jobs FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) AS u (queue, state, jobs)
ON CONFLICT (queue, state, shard) DO UPDATE SET jobs = ojs_counts.jobs + excluded.jobs
