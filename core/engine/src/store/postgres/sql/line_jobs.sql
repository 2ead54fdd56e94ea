WITH looked AS MATERIALIZED (
  SELECT seq, kind FROM ojs_runs
  WHERE place = 1 AND queue = $1 AND nprio < 500 AND (nprio, line) > ($2, $3)
  ORDER BY nprio, line LIMIT $4
)
SELECT {r.JOB},
       {j.BODY}
FROM ojs_runs r JOIN ojs_jobs j ON j.seq = r.seq
WHERE r.seq IN (SELECT seq FROM looked WHERE kind = ANY($5)) AND r.place = 1
ORDER BY r.nprio, r.line LIMIT $6
FOR UPDATE OF r SKIP LOCKED
