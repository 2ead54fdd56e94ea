SELECT {EVENT}, pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest FROM ojs_events WHERE seq >= $1 ORDER BY seq LIMIT $2
