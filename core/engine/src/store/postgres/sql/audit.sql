-- What an audit asks of the database. Each statement begins with `-- check NAME: WHAT`, takes the largest number of rows,
-- and returns the row that is wrong, what was expected and what was found. Rows that an application has inserted and no
-- node has taken in yet have no body and no run.

-- check bodies: the body of a job
SELECT 'job ' || r.id, 'a row', 'none'
FROM ojs_runs r LEFT JOIN ojs_jobs j ON j.seq = r.seq WHERE j.seq IS NULL OR j.body IS NULL LIMIT $1;

-- check bodies: the job of a body
SELECT 'job ' || j.id, 'a row', 'none'
FROM ojs_jobs j WHERE j.body IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ojs_runs r WHERE r.seq = j.seq) LIMIT $1;

-- check bodies: the id of a job, in both tables
SELECT 'job ' || j.id, j.id::text, r.id::text FROM ojs_jobs j JOIN ojs_runs r ON r.seq = j.seq WHERE r.id <> j.id LIMIT $1;

-- check histories: the job of a history
SELECT 'history ' || h.seq, 'a row', 'none'
FROM ojs_histories h WHERE NOT EXISTS (SELECT 1 FROM ojs_runs r WHERE r.seq = h.seq) LIMIT $1;

-- check claims: the batch of a filed active job
SELECT 'job ' || r.id, 'a row', 'none'
FROM ojs_runs r WHERE r.state = 3 AND r.place <> 3
  AND r.seq NOT IN (SELECT seq FROM ojs_active) LIMIT $1;

-- check same_key: pairs of jobs that have not ended
SELECT a.id::text, b.id::text, ''
FROM ojs_runs a JOIN ojs_runs b ON b.ukey = a.ukey AND b.seq > a.seq
WHERE a.ukey IS NOT NULL AND a.state IN (0, 1, 2, 3, 5) AND b.state IN (0, 1, 2, 3, 5) LIMIT $1;
