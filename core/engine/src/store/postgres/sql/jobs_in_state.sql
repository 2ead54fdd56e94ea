SELECT coalesce(sum(jobs), 0)::bigint FROM ojs_counts WHERE state = $1::bigint
