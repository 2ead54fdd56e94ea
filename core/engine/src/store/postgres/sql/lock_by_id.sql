SELECT {r.JOB}
FROM ojs_jobs j JOIN ojs_runs r ON r.seq = j.seq WHERE j.id = ANY ($1)
ORDER BY r.seq FOR UPDATE OF r
