//! Claims: the best available jobs of the queues, each under a fresh lease token.
use std::sync::Arc;

use ojs_model::JobState;
use ojs_model::state::Trigger;

use crate::error::StoreError;
use crate::kernel::claiming::{Assign, Chosen, Claim, Claiming, Holder, Sender};
use crate::kernel::hooks::call;
use crate::kernel::job::{Body, JobRow, JobView, flag};
use crate::kernel::settings::DEFAULT_TIMEOUT_MS;
use crate::kernel::transaction::Transaction;
use crate::kernel::view::view_with;
use crate::store::heads::Heads;
use crate::store::rows::{Directive, QueueRow, WorkerPhase, WorkerRow};

/// After this time a fetch looks again for jobs that another transaction held. Usually that transaction claims them
/// and commits soon.
const PASSED_MS: i64 = 250;
/// The same for a fetch that takes only some jobs of a queue: the jobs that it sees may be meant for other workers.
const NARROW_PASSED_MS: i64 = 5_000;

impl Transaction<'_> {
    pub(crate) fn claim(&mut self, claim: &Claim) -> Result<Vec<JobView>, StoreError> {
        if self.tables.maintenance()?.is_some() {
            return Ok(Vec::new());
        }
        let worker = match &claim.worker {
            Some(id) => {
                let worker = self.tables.worker(id)?;
                // A quiet worker gets no job, even if its fetch was under way. The same holds for a worker that an
                // operator has made quiet, before its next heartbeat tells it so.
                if worker.phase != WorkerPhase::Running || worker.directive != Directive::Run {
                    return Ok(Vec::new());
                }
                Some(worker)
            }
            None => None,
        };
        let (num, id) = worker.as_ref().map_or_else(|| (0, Arc::default()), |row| (row.num, Arc::clone(&row.id)));
        self.claim_for(claim, worker.as_ref(), &mut Sender(Holder { worker: num, id, lease_ms: None }))
    }

    /// Claims jobs; `assign` chooses the worker that holds each of them. The caller has checked that workers may claim
    /// at all (they may not during maintenance).
    pub(crate) fn claim_for(
        &mut self,
        claim: &Claim,
        worker: Option<&WorkerRow>,
        assign: &mut dyn Assign,
    ) -> Result<Vec<JobView>, StoreError> {
        call!(self, before_claim);
        let job_type_ids = if claim.types.is_empty() { None } else { Some(self.tables.find_job_type_ids(&claim.types)?) };
        if job_type_ids.as_ref().is_some_and(Vec::is_empty) {
            // No job has ever had one of these types.
            return Ok(Vec::new());
        }
        for on_claim in self.counters.features.iter().filter_map(|feature| feature.on_claim) {
            on_claim(self, claim, worker);
        }
        let mut claiming = Claiming { claim, assign, job_type_ids, jobs: Vec::new(), looked: Vec::new(), unreadable: None };
        if !self.is_divided(&mut claiming)? {
            for name in &claim.queues {
                self.claim_some(&mut claiming, name, usize::MAX)?;
            }
        }
        let Claiming { jobs, looked, unreadable, .. } = claiming;
        if let (true, Some(fault)) = (jobs.is_empty(), unreadable) {
            // The other queues of the claim are empty: the answer is the reason why this one gives nothing.
            return Err(fault);
        }
        if jobs.is_empty() {
            call!(self, on_empty_claim);
            self.look_for_passed(claim, &looked)?;
        }
        Ok(jobs)
    }

    /// A claim skips rows that another transaction holds. If that transaction ends without a change, no signal is sent:
    /// a fetch that waits looks again after a while, and one that does not wait looks again at once.
    fn look_for_passed(&mut self, claim: &Claim, queues: &[i64]) -> Result<(), StoreError> {
        if queues.is_empty() || !self.tables.may_have_passed(queues)? {
            return Ok(());
        }
        let is_narrow =
            !claim.types.is_empty() || claim.handlers.is_some() || self.is_picky || self.tables.names().scope.num().is_some();
        self.has_passed = true;
        let pause = if is_narrow { NARROW_PASSED_MS } else { PASSED_MS };
        self.look_again(self.now.as_millis().saturating_add(pause));
        Ok(())
    }

    /// Whether a feature has claimed from the queues in an order of its own.
    fn is_divided(&mut self, claiming: &mut Claiming<'_>) -> Result<bool, StoreError> {
        for divide in self.counters.features.iter().filter_map(|feature| feature.divide) {
            if divide(self, claiming)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Claims at most `most` jobs from the queue of this name; returns how many.
    pub(crate) fn claim_some(&mut self, claiming: &mut Claiming<'_>, name: &str, most: usize) -> Result<usize, StoreError> {
        let Some(queue) = self.tables.find_queue(name)?.filter(|queue| !queue.paused) else { return Ok(0) };
        let before = claiming.jobs.len();
        match queue.settings() {
            Ok(_) => self.claim_from(queue, claiming, before.saturating_add(most.min(claiming.wanted())))?,
            Err(fault) => claiming.unreadable = Some(fault),
        }
        Ok(claiming.jobs.len() - before)
    }

    /// Claims from a queue until the claim has `goal` jobs.
    fn claim_from(&mut self, mut queue: QueueRow, claiming: &mut Claiming<'_>, goal: usize) -> Result<(), StoreError> {
        if queue.rate > 0.0 {
            // The bucket is shared with other writers.
            queue = self.tables.lock_queue(queue.num)?;
        }
        let before = claiming.jobs.len();
        let mut slots = usize::MAX;
        for free in self.counters.features.iter().filter_map(|feature| feature.slots) {
            slots = slots.min(free(self, &mut queue)?);
        }
        let allowed = queue.fill(self.now.as_millis());
        let full = goal.min(before.saturating_add(allowed.min(slots)));
        if full > before {
            claiming.looked.push(queue.num);
        }
        // Expired jobs are discarded on the way and replaced, hence the loop.
        while claiming.jobs.len() < full {
            let chosen = self.choose(claiming, queue.num, full - claiming.jobs.len())?;
            let mut is_last = chosen.is_last;
            for (row, body) in chosen.jobs {
                if row.expires_at > 0 && row.expires_at <= self.now.as_millis() {
                    self.expire(&row)?;
                    continue;
                }
                let Some(holder) = claiming.assign.holder(self.tables, self.now, &row, &body)? else {
                    // It stays first in its line, where the next query would find it again.
                    is_last = true;
                    continue;
                };
                if self.may_claim(&row)? {
                    let job = self.lease(row, body, &holder, claiming.claim)?;
                    claiming.assign.started();
                    claiming.jobs.push(job);
                }
            }
            if is_last {
                break;
            }
        }
        if queue.rate > 0.0 {
            let claimed = claiming.jobs.len();
            queue.tokens -= (claimed - before) as f64;
            if claimed > before {
                self.tables.save_queue(&queue)?;
            }
            if claimed == full && full < goal && allowed <= slots {
                // Only the rate holds the jobs back: a fetch that waits looks again when the bucket has filled.
                self.look_again(queue.next_at());
            }
        }
        Ok(())
    }

    /// Jobs of a queue for a claim: those that a feature chooses, else those of the queue in its order.
    fn choose(&mut self, claiming: &Claiming<'_>, queue: i64, wanted: usize) -> Result<Chosen, StoreError> {
        for choose in self.counters.features.iter().filter_map(|feature| feature.choose) {
            if let Some(chosen) = choose(self, claiming, queue, wanted)? {
                return Ok(chosen);
            }
        }
        let mut jobs = match &claiming.job_type_ids {
            None => self.tables.ready(&Heads::Queue { queue, limit: wanted })?,
            Some(job_type_ids) => self.ready_of(queue, job_type_ids, wanted)?,
        };
        call!(self, add, claiming, queue, wanted, &mut jobs);
        Ok(Chosen { is_last: jobs.len() < wanted || claiming.job_type_ids.is_some(), jobs })
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

    fn lease(&mut self, before: JobRow, body: Body, holder: &Holder, claim: &Claim) -> Result<JobView, StoreError> {
        let now = self.now.as_millis();
        let asked = holder.lease_ms.or(claim.visibility_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX)));
        let mut row = before.clone();
        row.attempt += 1;
        row.expires_at = 0;
        row.lease = self.counters.lease(self.tables, before.lease, claim.fenced)?;
        row.worker = holder.worker;
        row.started_at = now;
        row.lease_ms = asked.unwrap_or(if body.visibility_ms > 0 { body.visibility_ms } else { DEFAULT_TIMEOUT_MS });
        self.set_deadlines(&mut row, &body);
        let row = self.transition(&before, row, Trigger::Fetch, JobState::Active)?;
        let mut extra = format!("\"attempt\":{}", row.attempt);
        ojs_model::json::push_text(&mut extra, "worker_id", &holder.id);
        if row.has(flag::TRACED) {
            self.keep_trace(row.seq, &body);
        }
        self.emit("job.started", &row, &extra)?;
        let mut view = view_with(self.tables, row, body)?;
        call!(self, on_lease, &mut view);
        Ok(view)
    }
}
