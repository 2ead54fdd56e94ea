//! The seam that SQLite and memory implement: rows in, rows out, inside one transaction at a time. No rules here.
use std::ops::Range;
use std::sync::Arc;

use ojs_model::unique::UniqueKey;
use ojs_model::{JobId, JobState, NewJob, Timestamp};

use crate::error::Result;
use crate::features::admin::records::{AdminTables, JobSort, WorkerInfo};
use crate::features::crons::records::CronTables;
use crate::features::dead_letters::records::DeadTables;
use crate::features::idempotency::records::AnswerTables;
use crate::features::job_types::records::TypeTables;
use crate::features::limits::records::LimitTables;
use crate::features::queue_config::records::{QueueTables, Rate, StoredSettings};
use crate::features::results::records::ResultTables;
use crate::features::statistics::records::StatTables;
use crate::features::workflows::records::WorkflowTables;
use crate::kernel::clock::Clock;
use crate::kernel::command::Command;
use crate::kernel::job::{Body, History, JobRow, flag};
use crate::kernel::log::LogTables;

/// A queue as stores keep it.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueRow {
    /// Number of its name.
    pub num: i64,
    /// Its name.
    pub name: Arc<str>,
    /// Hands out nothing.
    pub paused: bool,
    /// First use.
    pub created_at: i64,
    /// Jobs per second it hands out; 0 is no limit.
    pub rate: f64,
    /// What is left in the token bucket.
    pub tokens: f64,
    /// When the bucket was last filled.
    pub filled_at: i64,
    /// Most that the bucket holds; 0 is a second's worth.
    pub burst: f64,
    /// Whether it takes jobs.
    pub phase: QueuePhase,
    /// What an operator has set, read with [`settings()`](Self::settings).
    pub settings: StoredSettings,
}

/// Whether a queue takes jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QueuePhase {
    /// It does.
    #[default]
    Open,
    /// It hands out what it has and takes no more.
    Draining,
    /// It is gone until its name is used again; its ended jobs are kept for as long as any.
    Deleted,
}

impl QueuePhase {
    /// The phase of a number.
    #[must_use]
    pub const fn from_number(number: i64) -> Self {
        match number {
            1 => Self::Draining,
            2 => Self::Deleted,
            _ => Self::Open,
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

/// A worker as stores keep it.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerRow {
    /// Number of its id.
    pub num: i64,
    /// Its id.
    pub id: Arc<str>,
    /// What it last reported: 0 running, 1 quiet, 2 terminate, 3 drain.
    pub phase: i64,
    /// Latest heartbeat; 0 when it never sent one.
    pub beat_at: i64,
    /// What an operator wants it to do: 0 nothing, 1 quiet, 2 terminate.
    pub directive: i64,
    /// First heartbeat; 0 when it never sent one.
    pub first_at: i64,
    /// What it says of itself.
    pub info: WorkerInfo,
}

impl WorkerRow {
    /// A worker that has just been heard of.
    #[must_use]
    pub fn fresh(num: i64, id: &str) -> Self {
        Self { num, id: id.into(), phase: 0, beat_at: 0, directive: 0, first_at: 0, info: "{}".into() }
    }
}

/// Jobs per state of a queue, indexed by [`JobState`] number.
pub type Counts = [i64; 8];

/// Which dead letters to list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeadFilter {
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
    /// Page size.
    pub limit: usize,
    /// Rows to skip.
    pub offset: usize,
}

/// Which jobs to list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobFilter {
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
    /// Page size.
    pub limit: usize,
    /// Rows to skip.
    pub offset: usize,
}

impl JobFilter {
    /// `ORDER BY` of the list, in the column names that the SQL stores share.
    pub fn order(&self) -> &'static str {
        match (self.sort, self.ascending) {
            // Where an available job stands in its line is no time; among others it counts from when it came there.
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

/// One row of the event log: all events of one commit.
#[derive(Debug, Clone, PartialEq)]
pub struct EventBatch {
    /// Number of the batch.
    pub seq: i64,
    /// Time of the commit.
    pub at: i64,
    /// One event a line.
    pub lines: String,
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

/// Rows and indexes. One writer at a time; [`begin`](Self::begin) and [`commit`](Self::commit) frame every change.
pub trait Tables:
    AdminTables
    + AnswerTables
    + CronTables
    + DeadTables
    + LimitTables
    + LogTables
    + QueueTables
    + ResultTables
    + StatTables
    + TypeTables
    + WorkflowTables
    + Send
{
    /// Starts a transaction. `durable` asks for fsync at commit.
    fn begin(&mut self, durable: bool) -> Result<()>;
    /// Told of the commands that follow, so that a store across a network can read ahead.
    fn prepare(&mut self, commands: &[&Command]) -> Result<()> {
        let _ = commands;
        Ok(())
    }
    /// The time of the transaction, or the time now. Stores that several machines share have a clock of their own.
    fn now(&mut self, clock: &dyn Clock) -> Timestamp {
        clock.now()
    }
    /// Whether other machines write here, too.
    fn is_shared(&self) -> bool {
        false
    }
    /// Whether this transaction may maintain; fences it against any other that does.
    fn lead(&mut self) -> Result<bool> {
        Ok(true)
    }
    /// Lets another process maintain at once, when this one stops.
    fn resign(&mut self) -> Result<()> {
        Ok(())
    }
    /// Puts right what an earlier fault of the disk has left. Called again and again, at no cost while there is none.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] while nothing may be confirmed: begin a transaction later.
    fn settle(&mut self) -> Result<()> {
        Ok(())
    }
    /// Makes the changes permanent.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] when they may or may not be permanent now.
    fn commit(&mut self) -> Result<()>;
    /// Undoes the changes since `begin`.
    fn rollback(&mut self);

    /// Stores jobs and sets the `seq` of their rows, up to the first whose id exists: its index is returned.
    fn insert_all(&mut self, jobs: &[&NewJob], rows: &mut [JobRow]) -> Result<Option<usize>>;
    /// The newest job with this uniqueness key in one of the states, created after `since`.
    fn find_unique(&mut self, key: &UniqueKey, states: &[JobState], since: i64) -> Result<Option<JobRow>>;
    /// Told of ids whose rows are asked for next, so that a store across a network can read them in one exchange.
    fn expect_rows(&mut self, ids: &[JobId]) -> Result<()> {
        let _ = ids;
        Ok(())
    }
    /// The row of an id.
    fn row(&mut self, id: JobId) -> Result<Option<JobRow>>;
    /// Writes the changing part of a row; `before` is what the store holds.
    fn update(&mut self, before: &JobRow, after: &JobRow) -> Result<()>;
    /// Removes a job with all its parts.
    fn delete(&mut self, row: &JobRow) -> Result<()>;
    /// The fixed part.
    fn body(&mut self, seq: i64) -> Result<Body>;
    /// Errors and result.
    fn history(&mut self, seq: i64) -> Result<History>;
    /// Replaces errors and result.
    fn set_history(&mut self, seq: i64, history: &History) -> Result<()>;

    /// Available jobs of a queue, best first.
    fn ready(&mut self, queue: i64, limit: usize) -> Result<Vec<(JobRow, Body)>>;
    /// Whether time has made anything due by `now`, cron entries included, or a worker that sent heartbeats has sent none since `silent_since`.
    fn anything_due(&mut self, now: i64, silent_since: i64) -> Result<bool>;
    /// Scheduled and retryable jobs whose time has come, earliest first.
    fn due(&mut self, now: i64, limit: usize) -> Result<Vec<JobRow>>;
    /// Active jobs whose next deadline has passed, earliest first.
    fn overdue(&mut self, now: i64, limit: usize) -> Result<Vec<JobRow>>;
    /// Jobs whose `expires_at` has passed, whatever their state.
    fn expired(&mut self, now: i64, limit: usize) -> Result<Vec<JobRow>>;
    /// Active jobs of a worker.
    fn held_by(&mut self, worker: i64, limit: usize) -> Result<Vec<JobRow>>;
    /// Terminal jobs with `seq` above `after`, in order, at most `limit` rows looked at; and where to go on (`None`: at the end).
    fn terminal(&mut self, after: i64, limit: usize) -> Result<(Vec<JobRow>, Option<i64>)>;
    /// A page of dead letters, newest first, and how many there are in all.
    fn dead(&mut self, filter: &DeadFilter) -> Result<(Vec<JobRow>, usize)>;

    /// A page of jobs in the order asked for. One row more than asked for tells that there is more.
    fn jobs(&mut self, filter: &JobFilter) -> Result<Vec<JobRow>>;

    /// The queue of a name, created when missing.
    fn queue(&mut self, name: &str, now: Timestamp) -> Result<QueueRow>;
    /// The queue of a name, if it was ever used.
    fn find_queue(&mut self, name: &str) -> Result<Option<QueueRow>>;
    /// Number of the queue that a filter names; 0, which no job has, when there is none of that name.
    fn queue_wanted(&mut self, name: Option<&str>) -> Result<Option<i64>> {
        let Some(name) = name else { return Ok(None) };
        Ok(Some(self.find_queue(name)?.map_or(0, |queue| queue.num)))
    }
    /// The queue of a number.
    fn queue_by_num(&mut self, num: i64) -> Result<QueueRow>;
    /// The queue as it is now, held until the end of the transaction: for what only one writer at a time may decide.
    fn lock_queue(&mut self, num: i64) -> Result<QueueRow> {
        self.queue_by_num(num)
    }
    /// All queues by name.
    fn queues(&mut self) -> Result<Vec<QueueRow>>;
    /// Writes pause, rate and bucket.
    fn save_queue(&mut self, queue: &QueueRow) -> Result<()>;
    /// Adds to the counts of a queue.
    fn add_counts(&mut self, queue: i64, delta: &Counts) -> Result<()>;
    /// Jobs per state.
    fn counts(&mut self, queue: i64) -> Result<Counts>;

    /// Number of a job type, made when missing.
    fn job_type_id(&mut self, name: &str) -> Result<i64>;
    /// Job type of a number.
    fn job_type_name(&mut self, num: i64) -> Result<Arc<str>>;

    /// The worker of an id, created when missing.
    fn worker(&mut self, id: &str) -> Result<WorkerRow>;
    /// Id of a worker number.
    fn worker_name(&mut self, num: i64) -> Result<Option<Arc<str>>>;
    /// Writes everything but number and id.
    fn save_worker(&mut self, worker: &WorkerRow) -> Result<()>;
    /// Workers that have sent heartbeats, but none since.
    fn silent_workers(&mut self, since: i64) -> Result<Vec<WorkerRow>>;
    /// Forgets a worker that holds nothing.
    fn forget_worker(&mut self, num: i64) -> Result<()>;
    /// Forgets workers that never sent a heartbeat and hold nothing.
    fn prune_workers(&mut self) -> Result<()>;

    /// Appends the events of a commit, one a line.
    fn append_events(&mut self, at: i64, lines: &str, count: usize) -> Result<()>;
    /// Batches from `seq` on (inclusive), oldest first.
    fn events_from(&mut self, seq: i64, limit: usize) -> Result<Vec<EventBatch>>;
    /// Drops batches older than `before`, and the oldest beyond `max` events.
    fn prune_events(&mut self, before: i64, max: u64) -> Result<()>;

    /// Reserves a range of lease tokens that nobody has handed out before, durably.
    fn reserve_leases(&mut self) -> Result<Range<i64>>;
    /// Takes out jobs that were inserted by plain SQL, oldest first; not those of the queues that are left out.
    fn raw_jobs(&mut self, limit: usize, left_out: &[Arc<str>]) -> Result<Vec<RawJob>> {
        let _ = (limit, left_out);
        Ok(Vec::new())
    }
    /// True when another process has changed the store since the last call.
    fn changed_elsewhere(&mut self) -> Result<bool>;
    /// Removes everything.
    fn reset(&mut self) -> Result<()>;
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
        parked: false,
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
    bits.into_iter().filter(|(has, _)| *has).fold(0, |flags, (_, bit)| flags | bit)
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
