SELECT {r.JOB},
       {h.HISTORY}
FROM ojs_jobs j JOIN ojs_runs r ON r.seq = j.seq LEFT JOIN ojs_histories h ON h.seq = r.seq
WHERE j.id = ANY ($1)
