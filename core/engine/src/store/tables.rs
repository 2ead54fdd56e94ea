//! The seam that SQLite and memory implement: rows in, rows out, inside one transaction at a time. No rules here.
use std::ops::Range;
use std::sync::Arc;

use ojs_model::unique::UniqueKey;
use ojs_model::{JobId, JobState, NewJob, Timestamp};

use crate::error::Result;
use crate::features::admin::records::{AdminTables, MaintenanceTables};
use crate::features::crons::records::CronTables;
use crate::features::dead_letters::records::DeadTables;
use crate::features::idempotency::records::AnswerTables;
use crate::features::job_types::records::TypeTables;
use crate::features::limits::records::{KeyTables, LimitTables};
use crate::features::queue_config::tables::QueueTables;
use crate::features::results::records::ResultTables;
use crate::features::statistics::records::StatTables;
use crate::features::workflows::records::WorkflowTables;
use crate::kernel::clock::Clock;
use crate::kernel::finding::AuditTables;
use crate::kernel::job::{Body, History, JobRow};
use crate::kernel::log::LogTables;
use crate::store::record::RecordTables;
use crate::store::rows::{Counts, DeadFilter, EventBatch, JobFilter, QueueRow, RawJob, WorkerRow};
use crate::store::wanted::Wanted;

/// Rows and indexes. One writer at a time; [`begin`](Self::begin) and [`commit`](Self::commit) frame every change.
pub trait Tables:
    AdminTables
    + AnswerTables
    + AuditTables
    + CronTables
    + DeadTables
    + KeyTables
    + LimitTables
    + LogTables
    + MaintenanceTables
    + QueueTables
    + RecordTables
    + ResultTables
    + StatTables
    + TypeTables
    + WorkflowTables
    + Send
{
    /// Starts a transaction. `durable` asks for fsync at commit.
    fn begin(&mut self, durable: bool) -> Result<()>;
    /// Told which rows the commands that follow ask for, so that a store across a network can read them ahead.
    fn prepare(&mut self, wanted: &Wanted<'_>) -> Result<()> {
        let _ = wanted;
        Ok(())
    }
    /// The time of the transaction, or the time now. Stores that several machines share have a clock of their own.
    fn now(&mut self, clock: &dyn Clock) -> Timestamp {
        clock.now()
    }
    /// Whether other machines write here, too. Only such a store is told in [`prepare`](Self::prepare) what its
    /// commands want.
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
    /// A number that grows with every change of the open transaction: it tells whether a refused command has written.
    fn changes(&self) -> u64;

    /// Stores jobs and sets the `seq` of their rows, up to the first whose id exists: its index is returned.
    fn insert_all(&mut self, jobs: &[&NewJob], rows: &mut [JobRow]) -> Result<Option<usize>>;
    /// The newest job with this uniqueness key in one of the states, created after `since`.
    fn find_unique(&mut self, key: &UniqueKey, states: &[JobState], since: i64) -> Result<Option<JobRow>>;
    /// Learns the ids whose rows are asked for next, so that a store across a network can read them in one exchange.
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
    /// Jobs in any state whose `expires_at` has passed.
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

    /// Reserves a range of lease tokens, durably. No two calls get the same token.
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
