//! Rows as every store keeps them, and the filters that find them.
use std::sync::Arc;

use ojs_model::train::{CancelActive, OnEnd};
use ojs_model::{JobId, JobState, NewJob, Timestamp, Train};

use crate::error::{Result, StoreError};
use crate::features::queue_config::records::{QueueSettings, Rate, StoredSettings};
use crate::kernel::holds::Holds;
use crate::kernel::job::{Body, JobRow, flag};
use crate::store::listing::ListPlace;
use crate::store::record::{numbered_field, record, words};
use crate::store::row::row;

/// A queue as stores keep it.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueRow {
    /// Number of its name.
    pub num: i64,
    /// Its name.
    pub name: Arc<str>,
    /// Whether it is paused: it hands out no jobs.
    pub paused: bool,
    /// First use.
    pub created_at: i64,
    /// Jobs per second it hands out; 0 is no limit.
    pub rate: f64,
    /// Tokens left in the bucket.
    pub tokens: f64,
    /// When the bucket was last filled.
    pub filled_at: i64,
    /// Capacity of the bucket; 0 means the jobs of one second.
    pub burst: f64,
    /// Whether it takes jobs.
    pub phase: QueuePhase,
    /// Settings by an operator, read with [`settings()`](Self::settings).
    pub settings: StoredSettings,
}

/// Whether a queue takes jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QueuePhase {
    /// It does.
    #[default]
    Open,
    /// It hands out its jobs and accepts no new ones.
    Draining,
    /// It is deleted until its name is used again; its ended jobs are kept as long as those of any queue.
    Deleted,
}

impl QueuePhase {
    /// The phase of a number; `None` for one that this version does not know.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Open),
            1 => Some(Self::Draining),
            2 => Some(Self::Deleted),
            _ => None,
        }
    }
}

numbered_field! { QueuePhase }

impl QueueRow {
    /// The settings of the queue; `None` for most queues.
    ///
    /// # Errors
    /// [`StoreError::Failed`] when they cannot be read: nothing may be decided, or written, as if there were none.
    pub fn settings(&self) -> Result<Option<Arc<QueueSettings>>> {
        match &self.settings {
            StoredSettings::None => Ok(None),
            StoredSettings::Set(settings) => Ok(Some(Arc::clone(settings))),
            StoredSettings::Unreadable(texts) => {
                let (name, fault) = (&self.name, &texts.fault);
                Err(StoreError::Failed(format!(
                    "the settings of queue '{name}' cannot be read ({fault}): configure it anew with PUT /ojs/v1/queues/{name}/config"
                )))
            }
        }
    }
}

impl QueueRow {
    /// A queue on its first use.
    #[must_use]
    pub fn fresh(num: i64, name: &str, created_at: i64) -> Self {
        Self {
            num,
            name: name.into(),
            paused: false,
            created_at,
            rate: 0.0,
            tokens: 0.0,
            filled_at: 0,
            burst: 0.0,
            phase: QueuePhase::Open,
            settings: StoredSettings::None,
        }
    }

    /// Sets a new rate; the bucket starts full.
    pub fn limit(&mut self, rate: Rate, now: i64) {
        let burst = rate.limit.max(1.0);
        (self.rate, self.burst, self.tokens, self.filled_at) = (rate.per_second(), burst, burst, now);
    }

    /// Fills the bucket for the time that has passed; returns how many jobs it allows now. It holds a period's worth, at least one.
    pub fn fill(&mut self, now: i64) -> usize {
        if self.rate <= 0.0 {
            return usize::MAX;
        }
        let passed = now.saturating_sub(self.filled_at).max(0) as f64 / 1000.0;
        let most = if self.burst > 0.0 { self.burst } else { self.rate.max(1.0) };
        self.tokens = (self.tokens + passed * self.rate).min(most);
        self.filled_at = now;
        // A float cast saturates. The small term keeps 0.9999… from being none.
        (self.tokens + 1e-9) as usize
    }

    /// When the bucket allows the next job.
    #[must_use]
    pub fn next_at(&self) -> i64 {
        let missing = (1.0 - self.tokens).max(0.0);
        self.filled_at.saturating_add((missing / self.rate * 1000.0).ceil() as i64)
    }
}

/// The phase of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WorkerPhase {
    /// It takes jobs.
    #[default]
    Running = 0,
    /// It finishes its jobs and takes no new ones.
    Quiet = 1,
    /// It was told to terminate, and is stopping.
    Terminate = 2,
    /// It finishes its jobs and then ends.
    Drain = 3,
}

words! { WorkerPhase { Running = "running", Quiet = "quiet", Terminate = "terminate", Drain = "drain" } }

impl WorkerPhase {
    /// Whether it ends, now or when its jobs are done.
    #[must_use]
    pub const fn is_leaving(self) -> bool {
        matches!(self, Self::Terminate | Self::Drain)
    }
}

/// What an operator wants a worker to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Directive {
    /// Take jobs.
    #[default]
    Run = 0,
    /// Finish its jobs and take no new ones.
    Quiet = 1,
    /// Stop.
    Terminate = 2,
}

words! { Directive { Run = "running", Quiet = "quiet", Terminate = "terminate" } }

record! {
    /// A worker as stores keep it.
    #[derive(Debug, Clone, PartialEq)]
    pub struct WorkerRow in "workers" {
        gathered ("num");
        fixed ("id");
        unique ID = "workers_id" ("id");
        index BEATING = "workers_beating" ("beat_at") positive;
        /// Number of its id.
        pub num: i64,
        /// Its id.
        pub id: Arc<str>,
        /// The phase that it last reported.
        pub phase: WorkerPhase,
        /// Latest heartbeat; 0 when it never sent one.
        pub beat_at: i64,
        /// What an operator wants it to do.
        pub directive: Directive,
        /// First heartbeat; 0 when it never sent one.
        pub first_at: i64 = 0,
        /// Its description of itself.
        pub info: WorkerInfo = "{}",
    }
}

impl WorkerRow {
    /// A worker on its first request.
    #[must_use]
    pub fn fresh(num: i64, id: &str) -> Self {
        let (phase, directive) = (WorkerPhase::Running, Directive::Run);
        Self { num, id: id.into(), phase, beat_at: 0, directive, first_at: 0, info: "{}".into() }
    }
}

/// Jobs per state of a queue, indexed by [`JobState`] number.
pub type Counts = [i64; 8];

/// States that count towards a bound: not finished, not running.
pub const WAITING: [JobState; 4] = [JobState::Available, JobState::Scheduled, JobState::Retryable, JobState::Pending];
/// Jobs of these counts that wait.
#[must_use]
pub fn depth(counts: &Counts) -> u64 {
    let waiting = WAITING.into_iter().filter_map(|state| counts.get(state as usize));
    u64::try_from(waiting.sum::<i64>()).unwrap_or(0)
}

/// Which dead letters to list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeadFilter {
    /// Only the tenant of this number.
    pub tenant: Option<i64>,
    /// Only this queue.
    pub queue: Option<String>,
    /// Only this job type.
    pub job_type: Option<String>,
    /// Only this type of the latest error.
    pub error_type: Option<String>,
    /// Discarded at or after, milliseconds.
    pub since: Option<i64>,
    /// Discarded before, milliseconds.
    pub until: Option<i64>,
    /// Only those among so many dead letters, from the place on; 0 for all. A filter has no index.
    pub look: usize,
    /// Only dead letters after this place: when the job was discarded, and its number.
    pub behind: Option<ListPlace>,
    /// Page size.
    pub limit: usize,
    /// Rows to skip.
    pub offset: usize,
}

impl DeadFilter {
    /// Whether it finds every dead letter from its place on.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let Self { look, behind, limit, offset, .. } = *self;
        *self == Self { look, behind, limit, offset, ..Self::default() }
    }

    /// The same, compared with so many dead letters where it does not find them all.
    #[must_use]
    pub fn compared_with(&self, look: usize) -> Self {
        Self { look: if self.is_whole() { 0 } else { look }, ..self.clone() }
    }

    /// The place of a dead letter among them.
    #[must_use]
    pub fn place(row: &JobRow) -> ListPlace {
        ListPlace { key: row.finished_at, seq: row.seq }
    }
}

/// Which jobs to list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobFilter {
    /// Only the tenant of this number.
    pub tenant: Option<i64>,
    /// Only this queue.
    pub queue: Option<String>,
    /// Only this state.
    pub state: Option<JobState>,
    /// Only this job type, or all that start so when it ends in `*`.
    pub job_type: Option<String>,
    /// Accepted at or after, milliseconds.
    pub since: Option<i64>,
    /// Accepted before, milliseconds.
    pub until: Option<i64>,
    /// Order.
    pub sort: JobSort,
    /// Smallest first instead of largest.
    pub ascending: bool,
    /// Only jobs with a larger number: where a walk in the order of acceptance goes on.
    pub after: i64,
    /// Only jobs after this place of the list; `after` does not count then.
    pub behind: Option<ListPlace>,
    /// Rows to look at, at most; 0 for as many as it takes.
    pub look: usize,
    /// Every job that is looked at, also one that the filter leaves out: finds where a look has ended.
    pub whole_look: bool,
    /// Page size.
    pub limit: usize,
    /// Rows to skip.
    pub offset: usize,
}

impl JobFilter {
    /// `ORDER BY` of the list, in the column names that the SQL stores share.
    pub fn order(&self) -> &'static str {
        match (self.sort, self.ascending) {
            // The sort key of an available job is a place in line, not a time. In a list of all states the time of its
            // enqueue is used instead.
            (JobSort::Scheduled, false) if self.state.is_none() => {
                "CASE state WHEN 1 THEN enqueued_at ELSE pos END DESC, seq DESC"
            }
            (JobSort::Scheduled, true) if self.state.is_none() => "CASE state WHEN 1 THEN enqueued_at ELSE pos END, seq",
            (JobSort::Created, false) => "seq DESC",
            (JobSort::Created, true) => "seq",
            (JobSort::Scheduled, false) => "pos DESC, seq DESC",
            (JobSort::Scheduled, true) => "pos, seq",
            // Stored as minus the priority.
            (JobSort::Priority, false) => "nprio, seq",
            (JobSort::Priority, true) => "nprio DESC, seq",
        }
    }
}

row! {
    /// One row of the event log: all events of one commit.
    #[derive(Debug, Clone, PartialEq)]
    pub struct EventBatch in "events" {
        key {
            /// Number of the batch.
            pub seq: i64,
        }
        fixed {
            /// Time of the commit.
            pub at: i64,
            /// One event a line.
            pub lines: String,
        }
    }
}

/// A job that an application inserted by plain SQL.
#[derive(Debug, Clone, PartialEq)]
pub struct RawJob {
    /// Its id.
    pub id: JobId,
    /// Its type.
    pub job_type: String,
    /// JSON array.
    pub args: String,
    /// Name of its queue.
    pub queue: String,
    /// JSON object.
    pub meta: Option<String>,
    /// JSON object: the options of an enqueue request.
    pub options: Option<String>,
}

/// What a worker says of itself in heartbeats, as JSON members; `{}` when it says nothing.
pub type WorkerInfo = Arc<str>;

/// How jobs of a list are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JobSort {
    /// By acceptance.
    #[default]
    Created,
    /// By the time they are due, ended or became available: what their state is ordered by.
    Scheduled,
    /// By priority.
    Priority,
}

/// A row for a job about to be stored.
#[must_use]
pub fn fresh_row(job: &NewJob, queue: i64, job_type_id: i64, state: JobState, sort_key: i64, now: Timestamp) -> JobRow {
    JobRow {
        seq: 0,
        id: job.id,
        queue,
        job_type_id,
        state,
        priority: job.priority,
        sort_key,
        attempt: 0,
        releases: 0,
        max_attempts: job.retry.as_ref().map_or(DEFAULT_MAX_ATTEMPTS, |r| r.max_attempts),
        lease: 0,
        worker: 0,
        lease_ms: 0,
        lease_until: 0,
        deadline: 0,
        created_at: now.as_millis(),
        enqueued_at: 0,
        started_at: 0,
        finished_at: 0,
        activated_at: 0,
        expires_at: job.expires_at.map_or(0, Timestamp::as_millis),
        retry_delay: 0,
        workflow: 0,
        step: 0,
        limit: 0,
        version: job.version.as_ref().map_or(0, |version| version.rank + 1),
        tenant: 0,
        fair: 0,
        holds: Holds::NONE,
        flags: settings_of(job),
    }
}

/// Which settings that few jobs have a job has: the others are never read again.
fn settings_of(job: &NewJob) -> u32 {
    let bits = [
        (job.total_timeout_ms.is_some(), flag::TOTAL),
        (job.heartbeat_timeout_ms.is_some(), flag::STALLS),
        (job.enqueue_ttl_ms.is_some(), flag::TTL),
        (job.result_ttl.is_some(), flag::RESULT_TTL),
        (job.trace_id.is_some(), flag::TRACED),
    ];
    let train = job.train.as_ref().map_or(0, |train| flags_of(train, job.pending));
    train | bits.into_iter().filter(|(has, _)| *has).fold(0, |flags, (_, bit)| flags | bit)
}

/// The same for what a job says of its train.
fn flags_of(train: &Train, pending: bool) -> u32 {
    let bits = [
        (pending, flag::STAGED),
        (train.on_cancelled == OnEnd::Hold, flag::HOLD_CANCELLED),
        (train.on_discarded == OnEnd::Hold, flag::HOLD_DISCARDED),
        (train.cancel_active == CancelActive::Immediate, flag::LEAVES_ACTIVE),
    ];
    bits.into_iter().filter(|(has, _)| *has).fold(flag::TRAIN, |flags, (_, bit)| flags | bit)
}

/// `max_attempts` of the default retry policy.
const DEFAULT_MAX_ATTEMPTS: u32 = 3;

/// The fixed part of a job about to be stored.
#[must_use]
pub fn fresh_body(job: &NewJob) -> Body {
    Body { text: job.body.clone(), ..fresh_settings(job) }
}

/// The fixed part of a job about to be stored, without its text.
#[must_use]
pub fn fresh_settings(job: &NewJob) -> Body {
    let millis = |value: Option<u64>| value.map_or(0, |ms| i64::try_from(ms).unwrap_or(i64::MAX));
    Body {
        text: String::new(),
        retry: job.retry.as_ref().map(|policy| {
            let mut text = String::new();
            policy.push_json(&mut text);
            text
        }),
        timeout_ms: millis(job.timeout_ms),
        grace_ms: millis(job.grace_period_ms),
        visibility_ms: millis(job.visibility_timeout_ms),
    }
}
