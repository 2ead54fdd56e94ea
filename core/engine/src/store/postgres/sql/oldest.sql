WITH RECURSIVE line (nprio) AS (
  SELECT min(nprio) FROM ojs_runs WHERE place = 1 AND queue = $1
  UNION ALL
  SELECT (SELECT min(nprio) FROM ojs_runs WHERE place = 1 AND queue = $1 AND nprio > line.nprio) FROM line WHERE line.nprio IS NOT NULL
)
SELECT r.seq, r.id, r.queue, r.kind, r.state, r.nprio, r.attempt, r.releases, r.max_attempts, r.flags, r.pos, r.lease, r.worker, r.lease_ms, r.lease_until, r.deadline, r.created_at, r.enqueued_at, r.started_at, r.finished_at, r.activated_at, r.expires_at, r.retry_delay, r.workflow, r.step, r.limited
FROM ojs_runs r WHERE r.place = 1 AND r.seq IN (
  SELECT first.seq FROM line, LATERAL (
    SELECT seq FROM ojs_runs WHERE place = 1 AND queue = $1 AND nprio = line.nprio ORDER BY line LIMIT $2) AS first)
ORDER BY r.line LIMIT $2 FOR UPDATE
