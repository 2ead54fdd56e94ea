SELECT coalesce(sum(octet_length(j.body)), 0)::bigint FROM ojs_runs r JOIN ojs_jobs j ON j.seq = r.seq WHERE r.queue = $1 AND r.state = $2
