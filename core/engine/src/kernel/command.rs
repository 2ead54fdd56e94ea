//! What the engine asks of a store, and what it answers.
use std::sync::Arc;

use bytes::Bytes;
use ojs_model::rate_limit::Limits;
use ojs_model::workflow::NewWorkflow;
use ojs_model::{JobError, JobId, NewJob, OjsError, Timestamp};
use serde_json::{Map, Value};

use crate::features::admin::records::{AdminCommand, AdminQuery, AdminReply};
use crate::features::bulk::records::{BulkCommand, BulkQuery, BulkReply};
use crate::features::dead_letters::records::{DeadStats, Override};
use crate::features::limits::records::LimitView;
use crate::features::workflows::records::WorkflowView;
use crate::kernel::event::{Event, EventFilter};
use crate::kernel::job::{History, JobRow, JobView};
use crate::kernel::placed::Placed;
use crate::store::rows::{Counts, DeadFilter, QueueRow, WorkerInfo};

/// A change. Each is atomic: it happens whole or not at all.
#[derive(Debug, Clone)]
pub enum Command {
    /// Store jobs, all or none.
    Enqueue(Vec<Arc<NewJob>>),
    /// Write outcomes, each on its own, then claim jobs.
    Exchange {
        /// Outcomes of earlier claims.
        outcomes: Vec<OutcomeReport>,
        /// What to claim afterwards.
        claim: Option<Claim>,
    },
    /// Extend leases, report a worker's state.
    Heartbeat(Heartbeat),
    /// Cancel a job.
    Cancel(JobId),
    /// Activate a pending job.
    Activate(JobId),
    /// Change the priority of a job that waits.
    SetPriority(JobId, i32),
    /// Run a dead letter, or another discarded job, again.
    Replay(JobId),
    /// The same, with changes.
    ReplayChanged(JobId, Box<Override>),
    /// Run some of the dead letters that a filter finds again; to be repeated until the answer is empty.
    ReplayDead(DeadFilter),
    /// Delete a dead letter.
    DeleteDeadLetter(JobId),
    /// Delete some of the dead letters that a filter finds; to be repeated until the answer is empty.
    DeleteDeadLetters(DeadFilter),
    /// Stop or start handing out the jobs of a queue.
    SetPaused {
        /// Name of the queue.
        queue: String,
        /// Whether it hands out nothing.
        paused: bool,
    },
    /// Stop or start taking jobs into a queue.
    SetDraining {
        /// Name of the queue.
        queue: String,
        /// Whether it takes none.
        draining: bool,
    },
    /// Set up a queue that does not exist yet. The settings are in canonical names, checked.
    CreateQueue {
        /// Name of the queue.
        queue: String,
        /// What to set.
        settings: Map<String, Value>,
    },
    /// Change settings of a queue: what is named is set, what is null is left to the template.
    Configure {
        /// Name of the queue.
        queue: String,
        /// What to set.
        settings: Map<String, Value>,
    },
    /// Take a slice of the waiting jobs out of a queue: to another, or discarded.
    EmptyQueue {
        /// Name of the queue.
        queue: String,
        /// Where they go; `None` discards them.
        target: Option<String>,
    },
    /// Delete a queue in which nothing waits or runs.
    DeleteQueue(String),
    /// Give a key other limits for a while; `None` ends that.
    OverrideLimit {
        /// The tenant of the key; empty for a key without a tenant.
        tenant: String,
        /// The key.
        key: String,
        /// The limits.
        limits: Option<Limits>,
        /// Until when.
        until: Timestamp,
    },
    /// Note that an enqueue waited for room in vain.
    EmitFull {
        /// Name of the queue.
        queue: String,
        /// Type of the job.
        job_type: String,
    },
    /// Store a workflow and start its first steps.
    CreateWorkflow(Arc<NewWorkflow>),
    /// Cancel a workflow: what has not started never does.
    CancelWorkflow(JobId),
    /// Tell a worker at its next heartbeat to be quiet (1) or to terminate (2).
    Direct {
        /// The worker's id.
        worker: String,
        /// 1 quiet, 2 terminate.
        directive: i64,
    },
    /// An operator's order.
    Admin(AdminCommand),
    /// A change of many jobs.
    Bulk(BulkCommand),
    /// Remove everything (test mode).
    Reset,
}

/// Jobs wanted by a worker.
#[derive(Debug, Clone, Default)]
pub struct Claim {
    /// Queues, strictly in this order.
    pub queues: Vec<String>,
    /// At most this many.
    pub count: usize,
    /// The worker, if it named itself.
    pub worker: Option<String>,
    /// Lease length that overrides the job's own.
    pub visibility_ms: Option<u64>,
    /// The client reports with lease tokens: its claims are settled, released and extended by their tokens only.
    pub fenced: bool,
    /// Only jobs of these types; empty for all.
    pub types: Vec<String>,
    /// Name of the key that the request came with.
    pub key: Option<String>,
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
    /// Whether the answer shall carry the whole job.
    pub want_job: bool,
}

/// How an attempt ended.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// Done; the result is JSON text.
    Ack(Option<Bytes>),
    /// Failed.
    Nack(Box<JobError>),
    /// Given back, not charged, kept back for so many milliseconds.
    Release(u64),
}

/// A sign of life.
#[derive(Debug, Clone, Default)]
pub struct Heartbeat {
    /// The worker.
    pub worker: String,
    /// 0 running, 1 quiet, 2 terminate, 3 drain.
    pub phase: i64,
    /// What it says of itself; `None` leaves what it said before.
    pub info: Option<WorkerInfo>,
    /// Jobs it holds, with tokens where known.
    pub jobs: Vec<(JobId, Option<i64>)>,
    /// Lease length that overrides the one of the claim.
    pub visibility_ms: Option<u64>,
    /// Whether to look for `meta.test_directive` (test mode).
    pub test_directives: bool,
    /// Name of the key that the request came with.
    pub key: Option<String>,
}

/// A reading, answered from a consistent snapshot.
#[derive(Debug, Clone)]
pub enum Query {
    /// One job.
    Job(JobId),
    /// How jobs ended, for those that are known.
    Results(Vec<JobId>),
    /// One workflow.
    Workflow(JobId),
    /// All queues.
    Queues,
    /// One queue with its counts.
    Queue(String),
    /// A page of keys with limits; with a name, only those of that name.
    Limits {
        /// The name.
        key: Option<String>,
        /// Page size.
        limit: usize,
        /// Keys to skip.
        offset: usize,
        /// The time to look at windows.
        at: Timestamp,
    },
    /// A page of dead letters.
    Dead(DeadFilter),
    /// One dead letter.
    DeadLetter(JobId),
    /// Counts of dead letters.
    DeadStats,
    /// A page of events.
    Events(EventFilter),
    /// An operator's question.
    Admin(AdminQuery),
    /// A question about many jobs.
    Bulk(BulkQuery),
    /// The first and last place of the event log, and the place of a time.
    Log(Option<Timestamp>),
    /// Whether the store answers.
    Ping,
}

/// The answer to a command or a query.
#[derive(Debug, Clone)]
pub enum Reply {
    /// One per job, in order.
    Enqueued(Vec<Placed>),
    /// Answers to outcomes, in order, and claimed jobs.
    Exchanged {
        /// One per outcome.
        results: Vec<Result<Finished, OjsError>>,
        /// Claimed jobs.
        jobs: Vec<JobView>,
        /// When a claim that a queue's rate held back may find more.
        retry_at: Option<Timestamp>,
    },
    /// Answer to a heartbeat.
    Beat {
        /// Leases that were extended.
        extended: Vec<JobId>,
        /// Jobs of the worker that were cancelled while it held them.
        cancelled: Vec<JobId>,
        /// What the worker shall do.
        directive: &'static str,
    },
    /// A changed job and the state it was in before.
    Changed {
        /// The job now.
        job: Box<JobView>,
        /// The state before.
        previous: ojs_model::JobState,
    },
    /// A job.
    Job(Box<JobView>),
    /// Jobs with what came out of them, one per id, in order; `None` for an unknown one.
    Results(Vec<Option<(JobRow, History)>>),
    /// A workflow.
    Workflow(Box<WorkflowView>),
    /// A page of keys with what is going on, and how many there are in all.
    Limits(Vec<LimitView>, usize),
    /// So many jobs taken out of a queue; whether there may be more.
    Emptied(usize, bool),
    /// A queue with counts.
    Queue(QueueRow, Counts),
    /// Queues.
    Queues(Vec<QueueRow>),
    /// Jobs that were changed.
    Ids(Vec<JobId>),
    /// Counts of dead letters.
    DeadStats(Box<DeadStats>),
    /// A page of jobs and the number in all.
    Page(Vec<JobView>, usize),
    /// A page of events, the cursor behind it, whether there is more.
    Events {
        /// Oldest first.
        events: Vec<Event>,
        /// Where to go on.
        cursor: String,
        /// Whether more are there already.
        has_more: bool,
    },
    /// For an operator.
    Admin(Box<AdminReply>),
    /// About many jobs.
    Bulk(Box<BulkReply>),
    /// The extent of the event log.
    Log(crate::kernel::log::Span),
    /// Done.
    Done,
}

impl Reply {
    /// Which one it is, without what it holds: for logs and faults, which never show a job.
    #[must_use]
    pub fn kind(&self) -> String {
        format!("{self:?}").chars().take_while(char::is_ascii_alphanumeric).collect()
    }
}

/// An accepted outcome.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The row after it.
    pub row: crate::kernel::job::JobRow,
    /// The whole job, when asked for.
    pub job: Option<Box<JobView>>,
    /// When it was written.
    pub at: Timestamp,
}

impl From<AdminReply> for Reply {
    fn from(reply: AdminReply) -> Self {
        Self::Admin(Box::new(reply))
    }
}

impl From<BulkReply> for Reply {
    fn from(reply: BulkReply) -> Self {
        Self::Bulk(Box::new(reply))
    }
}
