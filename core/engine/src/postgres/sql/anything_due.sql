SELECT EXISTS (SELECT 1 FROM ojs_runs WHERE state = 0 AND pos <= $1)
    OR EXISTS (SELECT 1 FROM ojs_runs WHERE state = 5 AND pos <= $1)
    OR EXISTS (SELECT 1 FROM ojs_runs WHERE state = 3 AND pos <= $1)
    OR EXISTS (SELECT 1 FROM ojs_runs WHERE expires_at > 0 AND expires_at <= $1)
    OR EXISTS (SELECT 1 FROM ojs_workers WHERE beat_at > 0 AND beat_at <= $2)
    OR EXISTS (SELECT 1 FROM ojs_crons WHERE next_at > 0 AND next_at <= $1)
    OR EXISTS (SELECT 1 FROM ojs_crons c WHERE waiting > 0 AND NOT EXISTS (
         SELECT 1 FROM ojs_jobs j JOIN ojs_runs r ON r.seq = j.seq WHERE j.id = c.last_job AND r.state NOT IN (4, 6, 7)))
    OR EXISTS (SELECT 1 FROM ojs_jobs WHERE body IS NULL)
