//! Claims: the best available jobs of the queues, each under a fresh lease token.
use std::sync::Arc;

use ojs_model::JobState;
use ojs_model::state::Trigger;

use crate::error::StoreError;
use crate::features::versions::handlers::Handlers;
use crate::kernel::command::Claim;
use crate::kernel::hooks::call;
use crate::kernel::job::{Body, JobRow, JobView, flag};
use crate::kernel::settings::DEFAULT_TIMEOUT_MS;
use crate::kernel::transaction::Transaction;
use crate::kernel::view::view_with;
use crate::store::rows::{Directive, QueueRow, WorkerPhase};

/// The worker that holds a claimed job.
#[derive(Debug, Clone)]
pub(crate) struct Holder {
    /// Its number; 0 when it named none.
    pub(crate) worker: i64,
    /// Its id; empty when it named none.
    pub(crate) id: Arc<str>,
    /// Milliseconds of the lease; `None` for those of the claim or of the job.
    pub(crate) lease_ms: Option<i64>,
}

/// Chooses the holder of each job of a claim: for a claim on behalf of several workers.
pub(crate) trait Assign {
    /// The holder of a job that is about to be claimed; `None` leaves the job in its line.
    fn holder(&mut self, transaction: &mut Transaction<'_>, row: &JobRow, body: &Body) -> Result<Option<Holder>, StoreError>;
}

/// The one worker that has sent a claim gets all of its jobs.
struct Sender(Holder);

impl Assign for Sender {
    fn holder(&mut self, _: &mut Transaction<'_>, _: &JobRow, _: &Body) -> Result<Option<Holder>, StoreError> {
        Ok(Some(self.0.clone()))
    }
}

/// A claim that is being carried out.
pub(crate) struct Claiming<'c> {
    /// What is wanted.
    pub(crate) claim: &'c Claim,
    /// Chooses the holder of each job.
    assign: &'c mut dyn Assign,
    /// What the worker runs; `None` for everything.
    runs: Option<Arc<Handlers>>,
    /// Numbers of the job types that the claim names.
    job_type_ids: Option<Vec<i64>>,
    /// What it has got.
    jobs: Vec<JobView>,
    /// Why a queue gives nothing whose settings cannot be read.
    unreadable: Option<StoreError>,
}

impl Claiming<'_> {
    /// How many jobs it still wants.
    pub(crate) fn wanted(&self) -> usize {
        self.claim.count.saturating_sub(self.jobs.len())
    }
}

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
                Some(worker)
            }
            None => None,
        };
        let runs = self.runs(claim, worker.as_ref());
        let (worker, id) = worker.map_or_else(|| (0, Arc::default()), |row| (row.num, row.id));
        self.claim_for(claim, runs, &mut Sender(Holder { worker, id, lease_ms: None }))
    }

    /// Claims jobs; `assign` chooses the worker that holds each of them. Whether workers may claim at all, for example
    /// during maintenance, the caller has found out.
    pub(crate) fn claim_for(
        &mut self,
        claim: &Claim,
        runs: Option<Arc<Handlers>>,
        assign: &mut dyn Assign,
    ) -> Result<Vec<JobView>, StoreError> {
        call!(self, before_claim);
        let job_type_ids = if claim.types.is_empty() { None } else { Some(self.tables.find_job_type_ids(&claim.types)?) };
        if job_type_ids.as_ref().is_some_and(Vec::is_empty) {
            // No job has ever had one of these types.
            return Ok(Vec::new());
        }
        let mut claiming = Claiming { claim, assign, runs, job_type_ids, jobs: Vec::new(), unreadable: None };
        if !self.claim_by_pools(&mut claiming)? {
            for name in &claim.queues {
                self.claim_some(&mut claiming, name, usize::MAX)?;
            }
        }
        let Claiming { jobs, unreadable, .. } = claiming;
        if let (true, Some(fault)) = (jobs.is_empty(), unreadable) {
            // The other queues of the claim have nothing: the worker hears why this one gives nothing.
            return Err(fault);
        }
        if jobs.is_empty() {
            call!(self, on_empty_claim);
        }
        Ok(jobs)
    }

    /// Claims at most so many jobs from the queue of a name; returns how many it has given.
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
        let versioned = self.tables.has_versions(queue.num)?;
        // Expired jobs are discarded on the way and replaced, hence the loop.
        while claiming.jobs.len() < full {
            let wanted = full - claiming.jobs.len();
            let job_type_ids = claiming.job_type_ids.as_deref();
            let tenant = self.tables.names().scope.num();
            let mut ready = match (tenant, job_type_ids) {
                (Some(tenant), _) => self.ready_of_tenant(queue.num, tenant, job_type_ids, wanted)?,
                (None, None) => self.tables.ready(queue.num, wanted)?,
                (None, Some(job_type_ids)) => self.ready_of(queue.num, job_type_ids, wanted)?,
            };
            if versioned {
                self.add_versions(&mut ready, queue.num, claiming.runs.as_deref(), job_type_ids, wanted)?;
            }
            let mut exhausted = ready.len() < wanted || job_type_ids.is_some();
            for (row, body) in ready {
                if row.expires_at > 0 && row.expires_at <= self.now.as_millis() {
                    self.expire(&row)?;
                    continue;
                }
                let Some(holder) = claiming.assign.holder(self, &row, &body)? else {
                    // It stays at the head of its line, where another look would find it again.
                    exhausted = true;
                    continue;
                };
                if self.may_claim(&row)? {
                    let job = self.lease(row, body, &holder, claiming.claim)?;
                    claiming.jobs.push(job);
                }
            }
            if exhausted {
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
