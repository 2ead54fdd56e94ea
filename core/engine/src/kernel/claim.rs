//! Claims: the best available jobs of the queues, each under a fresh lease token.
use ojs_model::JobState;
use ojs_model::state::Trigger;

use crate::error::StoreError;
use crate::kernel::command::Claim;
use crate::kernel::hooks::call;
use crate::kernel::job::{Body, JobRow, JobView, flag};
use crate::kernel::settings::DEFAULT_TIMEOUT_MS;
use crate::kernel::transaction::Transaction;
use crate::kernel::view::view_with;
use crate::store::rows::{Directive, QueueRow, WorkerPhase};

impl Transaction<'_> {
    pub(crate) fn claim(&mut self, claim: &Claim) -> Result<Vec<JobView>, StoreError> {
        if self.tables.maintenance()?.is_some() {
            return Ok(Vec::new());
        }
        let worker = match &claim.worker {
            Some(id) => {
                let worker = self.tables.worker(id)?;
                // A worker that said it is quiet gets nothing, even if a fetch of it was under way; nor one that an operator has
                // told to be, whether or not it has heard of it yet.
                if worker.phase != WorkerPhase::Running || worker.directive != Directive::Run {
                    return Ok(Vec::new());
                }
                worker.num
            }
            None => 0,
        };
        call!(self, before_claim);
        let mut jobs = Vec::new();
        let job_type_ids = if claim.types.is_empty() { None } else { Some(self.tables.find_job_type_ids(&claim.types)?) };
        if job_type_ids.as_ref().is_some_and(Vec::is_empty) {
            // No job has ever had one of these types.
            return Ok(jobs);
        }
        let mut unreadable = None;
        for name in &claim.queues {
            let Some(queue) = self.tables.find_queue(name)?.filter(|queue| !queue.paused) else { continue };
            match queue.settings() {
                Ok(_) => self.claim_from(queue, worker, claim, job_type_ids.as_deref(), &mut jobs)?,
                Err(fault) => unreadable = Some(fault),
            }
        }
        if let (true, Some(fault)) = (jobs.is_empty(), unreadable) {
            // The other queues of the claim have nothing: the worker hears why this one gives nothing.
            return Err(fault);
        }
        if jobs.is_empty() {
            call!(self, on_empty_claim);
        }
        Ok(jobs)
    }

    fn claim_from(
        &mut self,
        mut queue: QueueRow,
        worker: i64,
        claim: &Claim,
        job_type_ids: Option<&[i64]>,
        jobs: &mut Vec<JobView>,
    ) -> Result<(), StoreError> {
        if queue.rate > 0.0 {
            // The bucket is shared with other writers.
            queue = self.tables.lock_queue(queue.num)?;
        }
        let before = jobs.len();
        let mut slots = usize::MAX;
        for free in self.counters.features.iter().filter_map(|feature| feature.slots) {
            slots = slots.min(free(self, &mut queue)?);
        }
        let allowed = queue.fill(self.now.as_millis());
        let full = claim.count.min(before.saturating_add(allowed.min(slots)));
        // Expired jobs are discarded on the way and replaced, hence the loop.
        while jobs.len() < full {
            let wanted = full - jobs.len();
            let tenant = self.tables.names().scope.num();
            let ready = match (tenant, job_type_ids) {
                (Some(tenant), _) => self.ready_of_tenant(queue.num, tenant, job_type_ids, wanted)?,
                (None, None) => self.tables.ready(queue.num, wanted)?,
                (None, Some(job_type_ids)) => self.ready_of(queue.num, job_type_ids, wanted)?,
            };
            let exhausted = ready.len() < wanted || job_type_ids.is_some();
            for (row, body) in ready {
                if row.expires_at > 0 && row.expires_at <= self.now.as_millis() {
                    self.expire(&row)?;
                } else if self.may_claim(&row)? {
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
            if jobs.len() == full && full < claim.count && allowed <= slots {
                // Held back by the rate alone: a fetch that waits looks again when the bucket has filled.
                self.look_again(queue.next_at());
            }
        }
        Ok(())
    }

    /// Whether no feature holds back a job at the head of its line.
    fn may_claim(&mut self, row: &JobRow) -> Result<bool, StoreError> {
        for may_claim in self.counters.features.iter().filter_map(|feature| feature.may_claim) {
            if !may_claim(self, row)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn lease(&mut self, before: JobRow, body: Body, worker: i64, claim: &Claim) -> Result<JobView, StoreError> {
        let now = self.now.as_millis();
        let asked = claim.visibility_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
        let mut row = before.clone();
        row.attempt += 1;
        row.expires_at = 0;
        row.lease = self.counters.lease(self.tables, before.lease, claim.fenced)?;
        row.worker = worker;
        row.started_at = now;
        row.lease_ms = asked.unwrap_or(if body.visibility_ms > 0 { body.visibility_ms } else { DEFAULT_TIMEOUT_MS });
        self.set_deadlines(&mut row, &body);
        let row = self.transition(&before, row, Trigger::Fetch, JobState::Active)?;
        let mut extra = format!("\"attempt\":{}", row.attempt);
        ojs_model::json::push_text(&mut extra, "worker_id", claim.worker.as_deref().unwrap_or_default());
        if row.has(flag::TRACED) {
            self.keep_trace(row.seq, &body);
        }
        self.emit("job.started", &row, &extra)?;
        view_with(self.tables, row, body)
    }
}
