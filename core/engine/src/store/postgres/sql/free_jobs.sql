SELECT EXISTS (
  SELECT 1 FROM unnest($1::bigint[]) q (queue), unnest($2::bigint[], $3::bigint[]) l (low, high)
  WHERE EXISTS (
    SELECT 1 FROM ojs_runs r WHERE r.place = 1 AND r.queue = q.queue AND r.nprio >= l.low AND r.nprio < l.high
  )
)
