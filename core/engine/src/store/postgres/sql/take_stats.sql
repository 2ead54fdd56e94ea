DELETE FROM ojs_stats WHERE (span, at, queue, node) IN
  (SELECT span, at, queue, node FROM ojs_stats WHERE span = $1 AND at < $2 ORDER BY at LIMIT $3)
RETURNING at, span, queue, node, enqueued, completed, failed, discarded, run, wait
