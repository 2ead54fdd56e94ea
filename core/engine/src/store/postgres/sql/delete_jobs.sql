WITH runs AS (DELETE FROM ojs_runs WHERE seq = ANY ($1)), histories AS (DELETE FROM ojs_histories WHERE seq = ANY ($1))
DELETE FROM ojs_jobs WHERE seq = ANY ($1)
