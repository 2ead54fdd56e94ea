//! The commands that every job needs. Commands of features are in `features/<name>/commands.rs`.
use std::sync::Arc;

use bytes::Bytes;
use ojs_model::{JobError, JobId, JobState, NewJob, OjsError, Timestamp};

use crate::error::Applied;
use crate::kernel::apart;
pub use crate::kernel::claiming::Claim;
use crate::kernel::job::{JobRow, JobView};
use crate::kernel::placed::Placed;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Apart, Command};
use crate::store::rows::{Directive, WorkerInfo, WorkerPhase};
use crate::store::wanted::Wanted;

/// Store jobs, all or none.
#[derive(Debug, Clone)]
pub struct Enqueue(pub Vec<Arc<NewJob>>);

impl Command for Enqueue {
    /// One per job, in order.
    type Reply = Vec<Placed>;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Vec<Placed>> {
        transaction.enqueue(&self.0)
    }

    fn weight(&self) -> usize {
        self.0.len()
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        self.0.iter().for_each(|job| wanted.new_job(job));
    }
}

/// Write outcomes, each on its own, then claim jobs.
#[derive(Debug, Clone, Default)]
pub struct Exchange {
    /// Outcomes of earlier claims.
    pub outcomes: Vec<OutcomeReport>,
    /// What to claim afterwards.
    pub claim: Option<Claim>,
}

/// The reply to an [`Exchange`].
#[derive(Debug, Clone, Default)]
pub struct Exchanged {
    /// One per outcome, in order.
    pub results: Vec<Result<Finished, OjsError>>,
    /// Claimed jobs.
    pub jobs: Vec<JobView>,
    /// When a claim that a rate limit cut short may find more jobs.
    pub retry_at: Option<Timestamp>,
    /// The worker of the claim has declared in a heartbeat that it runs only some versions. When its fetch waits, it is
    /// woken in addition to other fetches.
    pub is_picky: bool,
    /// The claim found nothing, and skipped jobs that another transaction held at that moment.
    pub has_passed: bool,
}

impl Command for Exchange {
    type Reply = Exchanged;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Exchanged> {
        transaction.exchange(&self.outcomes, self.claim.as_ref())
    }

    fn is_durable(&self) -> bool {
        !self.outcomes.is_empty()
    }

    fn weight(&self) -> usize {
        self.outcomes.len() + self.claim.as_ref().map_or(0, |claim| claim.count)
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        wanted.jobs.extend(self.outcomes.iter().map(|report| (report.job, report.lease)));
        if let Some(claim) = &self.claim {
            wanted.workers.extend(claim.worker.as_deref());
            // Another query finds the jobs of the types that a claim names.
            let first = claim.queues.first().filter(|_| claim.types.is_empty());
            wanted.claims.extend(first.map(|queue| (queue.as_str(), claim.count)));
        }
    }

    fn apply_apart(&self, writer: &mut dyn Apart) -> Option<Applied<Exchanged>> {
        let parts = self.outcomes.len() + usize::from(self.claim.is_some());
        (parts > 1).then(|| apart::exchange(self, writer))
    }
}

/// The outcome of one claim.
#[derive(Debug, Clone)]
pub struct OutcomeReport {
    /// Which job.
    pub job: JobId,
    /// Token of the claim, when the worker knows it.
    pub lease: Option<i64>,
    /// The worker, if it named itself.
    pub worker: Option<String>,
    /// What happened.
    pub outcome: Outcome,
    /// Whether the answer contains the whole job.
    pub want_job: bool,
}

/// How an attempt ended.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// Done; the result is JSON text.
    Ack(Option<Bytes>),
    /// Failed.
    Nack(Box<JobError>),
    /// Given back: no attempt is counted, and the job waits for so many milliseconds.
    Release(u64),
}

/// A heartbeat of a worker, or of a client that renews leases.
#[derive(Debug, Clone, Default)]
pub struct Heartbeat {
    /// The worker; empty for a client that fetches without a name: its heartbeat only renews leases.
    pub worker: String,
    /// Its phase: running, quiet or stopping.
    pub phase: WorkerPhase,
    /// Its description of itself; `None` keeps the one of an earlier heartbeat.
    pub info: Option<WorkerInfo>,
    /// The jobs that it holds, with their lease tokens where it knows them.
    pub jobs: Vec<(JobId, Option<i64>)>,
    /// Lease length that overrides the one of the claim.
    pub visibility_ms: Option<u64>,
    /// Whether to look for `meta.test_directive` (test mode).
    pub test_directives: bool,
    /// Name of the key that the request came with.
    pub key: Option<String>,
}

/// An accepted outcome.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The row after the change.
    pub row: JobRow,
    /// The whole job, if the request asked for it.
    pub job: Option<Box<JobView>>,
    /// When it was written.
    pub at: Timestamp,
}

/// The reply to a [`Heartbeat`].
#[derive(Debug, Clone)]
pub struct Beat {
    /// Leases that were extended.
    pub extended: Vec<JobId>,
    /// Jobs of the worker that were cancelled while it held them.
    pub cancelled: Vec<JobId>,
    /// What the worker should do next.
    pub directive: Directive,
}

impl Command for Heartbeat {
    type Reply = Beat;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Beat> {
        transaction.heartbeat(self)
    }

    fn is_durable(&self) -> bool {
        false
    }

    fn weight(&self) -> usize {
        self.jobs.len()
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        wanted.jobs.extend(self.jobs.iter().copied());
        wanted.workers.push(&self.worker);
    }
}

/// A changed job.
#[derive(Debug, Clone)]
pub struct Changed {
    /// The job after the change.
    pub job: JobView,
    /// Its state before the change.
    pub previous: JobState,
}

/// Cancel a job.
#[derive(Debug, Clone)]
pub struct Cancel(pub JobId);

impl Command for Cancel {
    type Reply = Changed;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Changed> {
        transaction.cancel(self.0)
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        wanted.job(self.0);
    }
}

/// Activate a pending job.
#[derive(Debug, Clone)]
pub struct Activate(pub JobId);

impl Command for Activate {
    type Reply = Changed;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Changed> {
        transaction.activate(self.0)
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        wanted.job(self.0);
    }
}

/// Change the priority of a job that waits.
#[derive(Debug, Clone)]
pub struct SetPriority(pub JobId, pub i32);

impl Command for SetPriority {
    type Reply = Changed;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Changed> {
        transaction.set_priority(self.0, self.1)
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        wanted.job(self.0);
    }
}

/// Remove everything (test mode).
#[derive(Debug, Clone)]
pub struct Reset;

impl Command for Reset {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        Ok(transaction.reset()?)
    }
}
