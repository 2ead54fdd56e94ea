-- A number is safe to show when no transaction with a smaller one can still commit: there is no gap before it, or everything that was
-- under way when it was written has ended, or it is older than any transaction of ours may become.
SELECT {EVENT}, xid < pg_snapshot_xmin(pg_current_snapshot()) OR at < $3 AS settled FROM ojs_events WHERE seq >= $1 ORDER BY seq LIMIT $2
