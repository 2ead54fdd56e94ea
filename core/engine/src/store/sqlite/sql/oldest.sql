WITH RECURSIVE line (nprio) AS (
  SELECT min(nprio) FROM jobs WHERE state = 1 AND queue = ?1
  UNION ALL
  SELECT (SELECT min(nprio) FROM jobs WHERE state = 1 AND queue = ?1 AND nprio > line.nprio) FROM line WHERE line.nprio IS NOT NULL
)
SELECT jobs.seq, jobs.id, jobs.queue, jobs.kind, jobs.state, jobs.nprio, jobs.pos, jobs.attempt, jobs.releases, jobs.max_attempts, jobs.lease, jobs.worker, jobs.lease_ms, jobs.lease_until, jobs.deadline, jobs.created_at, jobs.enqueued_at, jobs.started_at, jobs.finished_at, jobs.activated_at, jobs.expires_at, jobs.retry_delay, jobs.flags, jobs.workflow, jobs.step, jobs.limited
FROM line JOIN jobs ON jobs.seq IN (
  SELECT j.seq FROM jobs j WHERE j.state = 1 AND j.queue = ?1 AND j.nprio = line.nprio ORDER BY j.pos LIMIT ?2)
ORDER BY jobs.pos LIMIT ?2
