SELECT {JOB}
FROM ojs_runs WHERE seq = ANY (ARRAY(SELECT seq FROM ojs_jobs WHERE id = ANY ($1)))
