SELECT {jobs.JOB},
       {BODY}
FROM jobs JOIN bodies ON bodies.seq = jobs.seq
WHERE jobs.seq = ?1
