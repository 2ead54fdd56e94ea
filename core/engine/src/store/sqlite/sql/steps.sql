SELECT workflow, idx, name, state, request, child, job, after, result, finished_at FROM steps WHERE workflow = ?1 AND idx >= ?2 ORDER BY idx
