SELECT workflow, idx, name, state, request, child, job, after, result, finished_at FROM ojs_steps WHERE workflow = $1 AND idx = $2
