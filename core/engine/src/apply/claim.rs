//! Claims: the best available jobs of the queues, each under a fresh lease token.
use std::fmt::Write;

use ojs_model::JobState;
use ojs_model::state::Trigger;

use super::{Turn, view_with};
use crate::command::Claim;
use crate::job::{Body, JobRow, JobView};
use crate::tables::{QueueRow, StoreError};

/// Default lease and default execution time-out in milliseconds (protocol section 1.5).
pub(super) const DEFAULT_TIMEOUT_MS: i64 = 1_800_000;

impl Turn<'_> {
    pub(super) fn claim(&mut self, claim: &Claim) -> Result<Vec<JobView>, StoreError> {
        let worker = match &claim.worker {
            Some(id) => {
                let worker = self.tables.worker(id)?;
                // A worker that said it is quiet gets nothing, even if a fetch of it was under way.
                if worker.phase != 0 {
                    return Ok(Vec::new());
                }
                worker.num
            }
            None => 0,
        };
        let mut jobs = Vec::new();
        for name in &claim.queues {
            if let Some(queue) = self.tables.find_queue(name)?.filter(|queue| !queue.paused) {
                self.claim_from(queue, worker, claim, &mut jobs)?;
            }
        }
        Ok(jobs)
    }

    fn claim_from(&mut self, mut queue: QueueRow, worker: i64, claim: &Claim, jobs: &mut Vec<JobView>) -> Result<(), StoreError> {
        let before = jobs.len();
        let allowed = queue.fill(self.now.as_millis());
        let full = claim.count.min(before.saturating_add(allowed));
        // Expired jobs are discarded on the way and replaced, hence the loop.
        while jobs.len() < full {
            let wanted = full - jobs.len();
            let ready = self.tables.ready(queue.num, wanted)?;
            let exhausted = ready.len() < wanted;
            for (row, body) in ready {
                if row.expires_at > 0 && row.expires_at <= self.now.as_millis() {
                    self.expire(&row)?;
                } else {
                    jobs.push(self.lease(row, body, worker, claim)?);
                }
            }
            if exhausted {
                break;
            }
        }
        if queue.rate > 0.0 {
            queue.tokens -= (jobs.len() - before) as f64;
            if jobs.len() > before {
                self.tables.save_queue(&queue)?;
            }
            if jobs.len() == full && full < claim.count {
                // Held back by the rate alone: a fetch that waits looks again when the bucket has filled.
                let at = queue.next_at();
                self.retry_at = Some(self.retry_at.map_or(at, |earlier| earlier.min(at)));
            }
        }
        Ok(())
    }

    fn lease(&mut self, before: JobRow, body: Body, worker: i64, claim: &Claim) -> Result<JobView, StoreError> {
        let now = self.now.as_millis();
        let or_default = |ms: i64| if ms > 0 { ms } else { DEFAULT_TIMEOUT_MS };
        let asked = claim.visibility_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
        let mut row = before.clone();
        row.attempt += 1;
        row.expires_at = 0;
        row.lease = self.counters.lease(self.tables)?;
        row.worker = worker;
        row.started_at = now;
        row.lease_ms = asked.unwrap_or_else(|| or_default(body.visibility_ms));
        row.lease_until = now.saturating_add(row.lease_ms);
        row.deadline = now.saturating_add(or_default(body.timeout_ms)).saturating_add(body.grace_ms);
        row.pos = row.lease_until.min(row.deadline);
        let row = self.shift(&before, row, Trigger::Fetch, JobState::Active)?;
        let mut extra = format!("\"attempt\":{}", row.attempt);
        if let Some(worker) = &claim.worker {
            ojs_model::json::push_text(&mut extra, "worker_id", worker);
        }
        self.journal.job("job.started", self.now, &row, &extra);
        view_with(self.tables, row, body)
    }

    /// Discards a job whose time to start has passed.
    pub(super) fn expire(&mut self, before: &JobRow) -> Result<JobRow, StoreError> {
        let mut row = before.clone();
        row.finished_at = self.now.as_millis();
        row.pos = row.finished_at;
        row.expires_at = 0;
        row.flags |= crate::job::flag::EXPIRED;
        let error = ojs_model::JobError::engine(ojs_model::ErrorCode::Expired, "The job expired before it was started.");
        self.remember(&mut row, &error)?;
        let row = self.shift(before, row, Trigger::Expire, JobState::Discarded)?;
        let mut extra = String::new();
        let created = ojs_model::Timestamp::from_millis(row.created_at);
        let _ = write!(extra, "\"created_at\":\"{created}\",\"expired_at\":\"{}\"", self.now);
        let _ = write!(extra, ",\"ttl_ms\":{}", before.expires_at.saturating_sub(row.created_at));
        self.journal.job("job.expired", self.now, &row, &extra);
        Ok(row)
    }
}
