-- A transaction that has just read the number of a worker may be about to lease a job to it: only old ones go.
DELETE FROM ojs_workers w WHERE beat_at = 0 AND made_at < clock_timestamp() - interval '1 hour'
  AND NOT EXISTS (SELECT 1 FROM ojs_active r WHERE r.worker = w.num)
