SELECT at, span, queue, node, enqueued, completed, failed, discarded, run, wait FROM ojs_stats WHERE span IN (60000, 3600000) AND at >= $1 AND at < $2
AND ($3::bigint IS NULL OR queue = $3)
