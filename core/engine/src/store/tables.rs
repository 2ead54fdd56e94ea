//! The seam that SQLite, PostgreSQL and memory implement: rows in, rows out, inside one transaction at a time. No rules
//! here.
use std::ops::Range;
use std::sync::Arc;

use foldhash::HashMap;
use ojs_model::unique::UniqueKey;
use ojs_model::{JobId, JobState, NewJob, Timestamp};

use crate::error::Result;
use crate::features::admin::records::{AdminTables, MaintenanceTables};
use crate::features::crons::records::CronTables;
use crate::features::dead_letters::records::DeadTables;
use crate::features::errors::records::ErrorTables;
use crate::features::fair::records::{FairQueueTables, FairTables};
use crate::features::idempotency::records::AnswerTables;
use crate::features::job_types::records::TypeTables;
use crate::features::limits::records::{KeyTables, LimitTables, Standing};
use crate::features::pools::records::PoolTables;
use crate::features::queue_config::tables::QueueTables;
use crate::features::results::records::ResultTables;
use crate::features::statistics::records::StatTables;
use crate::features::tenants::records::TenantTables;
use crate::features::trains::records::TrainTables;
use crate::features::versions::records::{RouteTables, VersionTables, VersionedTables};
use crate::features::workflows::records::WorkflowTables;
use crate::kernel::clock::Clock;
use crate::kernel::finding::AuditTables;
use crate::kernel::job::{Body, History, JobRow, Line, TICKETS_PER_MILLI};
use crate::kernel::log::LogTables;
use crate::store::heads::Heads;
use crate::store::names::NameTables;
use crate::store::record::RecordTables;
use crate::store::rows::{Counts, DeadFilter, EventBatch, JobFilter, RawJob, WorkerRow};
use crate::store::selection::Selection;
use crate::store::wanted::Wanted;

/// Rows and indexes. One writer at a time; [`begin`](Self::begin) and [`commit`](Self::commit) frame every change.
pub trait Tables:
    AdminTables
    + AnswerTables
    + AuditTables
    + CronTables
    + DeadTables
    + ErrorTables
    + FairQueueTables
    + FairTables
    + KeyTables
    + LimitTables
    + LogTables
    + MaintenanceTables
    + NameTables
    + PoolTables
    + QueueTables
    + RecordTables
    + ResultTables
    + RouteTables
    + StatTables
    + TrainTables
    + TenantTables
    + TypeTables
    + VersionTables
    + VersionedTables
    + WorkflowTables
    + Send
{
    /// Starts a transaction. `durable` asks for fsync at commit.
    fn begin(&mut self, durable: bool) -> Result<()>;
    /// Makes this transaction durable, although it began without that: its changes must survive a crash of the
    /// database. A store that loses nothing when its process is killed need not do anything.
    ///
    /// # Errors
    /// When the store cannot be reached.
    fn make_durable(&mut self) -> Result<()> {
        Ok(())
    }
    /// Names the rows that are asked for next, so that a store across a network can read them ahead, in one exchange.
    fn prepare(&mut self, wanted: &Wanted<'_>) -> Result<()> {
        let _ = wanted;
        Ok(())
    }
    /// The time of the transaction, or the time now. Stores that several machines share have a clock of their own.
    fn now(&mut self, clock: &dyn Clock) -> Timestamp {
        clock.now()
    }
    /// Whether this transaction may do maintenance; excludes any other that does. With `stays` false another process
    /// may take over maintenance at once.
    fn lead(&mut self, stays: bool) -> Result<bool> {
        Ok(stays)
    }
    /// Repairs what an earlier fault of the disk has left. Called often; it costs nothing while there is no fault.
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
    /// The row of an id.
    fn row(&mut self, id: JobId) -> Result<Option<JobRow>>;
    /// Writes the changing part of a row; `before` is what the store holds.
    fn update(&mut self, before: &JobRow, after: &JobRow) -> Result<()>;
    /// Removes a job with all its parts.
    fn delete(&mut self, row: &JobRow) -> Result<()>;
    /// The fixed part.
    fn body(&mut self, seq: i64) -> Result<Body>;
    /// The fixed parts of several jobs, by number. A job that is gone meanwhile is left out.
    fn bodies(&mut self, seqs: &[i64]) -> Result<HashMap<i64, Body>> {
        seqs.iter().map(|seq| Ok((*seq, self.body(*seq)?))).collect()
    }
    /// Errors and result.
    fn history(&mut self, seq: i64) -> Result<History>;
    /// Errors and results of several jobs, by number. A job without any may be left out.
    fn histories(&mut self, seqs: &[i64]) -> Result<HashMap<i64, History>> {
        seqs.iter().map(|seq| Ok((*seq, self.history(*seq)?))).collect()
    }
    /// Replaces errors and result.
    fn set_history(&mut self, seq: i64, history: &History) -> Result<()>;

    /// Available jobs at the heads of lines.
    fn ready(&mut self, heads: &Heads<'_>) -> Result<Vec<(JobRow, Body)>>;
    /// Whether these queues have available jobs that nothing holds and that another transaction may have kept from a
    /// claim. A store with one writer at a time has none.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn may_have_passed(&mut self, queues: &[i64]) -> Result<bool> {
        let _ = queues;
        Ok(false)
    }
    /// Whether time has made any job due by `now`, or any record that a feature declares; `silent_since` is the time
    /// since which a worker has sent no heartbeat when it counts as dead.
    fn anything_due(&mut self, now: i64, silent_since: i64) -> Result<bool>;
    /// Jobs in the order of the selection. They see what their own transaction has changed.
    fn select(&mut self, wanted: &Selection<'_>, limit: usize) -> Result<Vec<JobRow>>;
    /// How many jobs a selection has; at most `most` are counted.
    fn count(&mut self, wanted: &Selection<'_>, most: usize) -> Result<usize>;
    /// Adds to a count of a queue: of the jobs in a state, or of its dead letters, which are `COUNTED_AS`.
    fn add_count(&mut self, queue: i64, count: usize, delta: i64) -> Result<()>;
    /// Jobs per state of one queue, or of all, by number of the queue. A queue that never had a job may be missing.
    fn counted(&mut self, queue: Option<i64>) -> Result<Vec<(i64, Counts)>>;
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

    /// The row of an id, if the caller may see it. Ids in requests are looked up with this method.
    fn visible(&mut self, id: JobId) -> Result<Option<JobRow>> {
        let row = self.row(id)?;
        Ok(row.filter(|row| self.names().scope.sees(row.tenant)))
    }
    /// Jobs per state of one queue, or of all, as far as the caller may see them.
    fn visible_counts(&mut self, queue: Option<i64>) -> Result<Vec<(i64, Counts)>> {
        match self.names().scope.num() {
            None => self.counted(queue),
            Some(tenant) => self.counts_of_tenant(tenant, queue),
        }
    }
    /// The same for one tenant; the default tenant has the jobs that belong to no other one.
    fn counts_of_tenant(&mut self, tenant: i64, queue: Option<i64>) -> Result<Vec<(i64, Counts)>> {
        let wanted = |num: i64| queue.is_none_or(|queue| queue == num);
        if tenant != 0 {
            let own = self.usage_of(tenant)?.into_iter().filter(|(num, _)| wanted(*num));
            return Ok(own.map(|(num, usage)| (num, usage.counts)).collect());
        }
        let (mut all, others) = (self.counted(queue)?, self.usage_of_queues()?);
        for (num, counts) in &mut all {
            let of_others = others.get(num).map(|usage| usage.counts).unwrap_or_default();
            counts.iter_mut().zip(of_others).for_each(|(cell, jobs)| *cell -= jobs);
        }
        Ok(all)
    }
    /// Whether other machines write to this store, too. [`prepare`](Self::prepare) is called only for such a store.
    fn is_shared(&mut self) -> bool {
        self.names().is_shared
    }
    /// Scheduled and retryable jobs whose time has come, earliest first.
    fn due(&mut self, now: i64, limit: usize) -> Result<Vec<JobRow>> {
        let mut rows = self.select(&Selection::Scheduled { by: now }, limit)?;
        rows.extend(self.select(&Selection::Retryable { by: now }, limit)?);
        rows.sort_by_key(|row| row.sort_key);
        rows.truncate(limit);
        Ok(rows)
    }
    /// Active jobs whose next deadline has passed, earliest first.
    fn overdue(&mut self, now: i64, limit: usize) -> Result<Vec<JobRow>> {
        self.select(&Selection::Overdue { by: now }, limit)
    }
    /// Jobs in any state whose `expires_at` has passed.
    fn expired(&mut self, now: i64, limit: usize) -> Result<Vec<JobRow>> {
        self.select(&Selection::Expired { by: now }, limit)
    }
    /// Active jobs of a worker.
    fn held_by(&mut self, worker: i64, limit: usize) -> Result<Vec<JobRow>> {
        self.select(&Selection::HeldBy { worker }, limit)
    }
    /// Terminal jobs with `seq` above `after`, in order, at most `limit` rows looked at; and where to go on (`None`: at the end).
    fn terminal(&mut self, after: i64, limit: usize) -> Result<(Vec<JobRow>, Option<i64>)> {
        let slice = self.select(&Selection::Above { seq: after }, limit)?;
        let next = if slice.len() < limit { None } else { slice.last().map(|row| row.seq) };
        Ok((slice.into_iter().filter(|row| row.state.is_terminal()).collect(), next))
    }
    /// Available jobs of a queue in the order of their arrival. Priorities do not count.
    fn oldest(&mut self, queue: i64, limit: usize) -> Result<Vec<JobRow>> {
        self.select(&Selection::Oldest { queue }, limit)
    }
    /// When the job that has waited longest in a queue became available, milliseconds.
    fn oldest_available(&mut self, queue: i64) -> Result<Option<i64>> {
        Ok(self.oldest(queue, 1)?.first().map(|row| row.sort_key / TICKETS_PER_MILLI))
    }
    /// Jobs of a queue in one state.
    fn jobs_in(&mut self, queue: i64, state: JobState, limit: usize) -> Result<Vec<JobRow>> {
        self.select(&Selection::In { queue, state }, limit)
    }
    /// Active jobs of a key with limits.
    fn running(&mut self, key: i64) -> Result<i64> {
        Ok(signed(self.count(&Selection::Running { key }, usize::MAX)?))
    }
    /// Available jobs of a key with limits, held or not.
    fn held(&mut self, key: i64) -> Result<i64> {
        Ok(signed(self.count(&Selection::Waiting { key }, usize::MAX)?))
    }
    /// Jobs of a key in a line that nothing holds, and the last of them.
    fn heads(&mut self, key: i64, line: Line) -> Result<(i64, Option<Standing>)> {
        let heads = Selection::Heads { key, line };
        let count = self.count(&heads, usize::MAX)?;
        let last = if count == 0 { None } else { self.select(&heads, 1)?.pop() };
        Ok((signed(count), last.map(|row| Standing { rank: -row.priority, sort_key: row.sort_key })))
    }
    /// Jobs of a key in a line that the limit alone holds, best first.
    fn parked(&mut self, key: i64, line: Line, limit: usize) -> Result<Vec<JobRow>> {
        self.select(&Selection::Parked { key, line }, limit)
    }
    /// Dead letters, newest first.
    fn dead(&mut self, filter: &DeadFilter) -> Result<Vec<JobRow>> {
        let tenant = self.names().scope.num().or(filter.tenant);
        self.select(&Selection::Dead(&DeadFilter { tenant, ..filter.clone() }), filter.limit)
    }
    /// How many dead letters a filter finds on all its pages.
    fn dead_found(&mut self, filter: &DeadFilter) -> Result<usize> {
        let tenant = self.names().scope.num().or(filter.tenant);
        let all = DeadFilter { tenant, offset: 0, behind: None, ..filter.clone() };
        if all.is_whole() { self.dead_count() } else { self.count(&Selection::Dead(&all), usize::MAX) }
    }
    /// A page of jobs in the order asked for. One row more than asked for tells that there is more.
    fn jobs(&mut self, filter: &JobFilter) -> Result<Vec<JobRow>> {
        let tenant = self.names().scope.num().or(filter.tenant);
        self.select(&Selection::Listed(&JobFilter { tenant, ..filter.clone() }), filter.limit + 1)
    }
    /// How many jobs a filter finds; at most `most` are counted.
    fn count_jobs(&mut self, filter: &JobFilter, most: usize) -> Result<usize> {
        let tenant = self.names().scope.num().or(filter.tenant);
        let all = JobFilter { tenant, offset: 0, after: 0, behind: None, ..filter.clone() };
        self.count(&Selection::Listed(&all), most)
    }
    /// Jobs per state of a queue.
    fn counts(&mut self, queue: i64) -> Result<Counts> {
        Ok(self.counted(Some(queue))?.pop().map(|(_, counts)| counts).unwrap_or_default())
    }
    /// All workers by id, and how many jobs each holds.
    fn workers(&mut self) -> Result<Vec<(WorkerRow, usize)>> {
        let mut held: HashMap<i64, usize> = HashMap::default();
        for holder in self.holders()? {
            *held.entry(holder.worker).or_default() += holder.jobs;
        }
        let counted = |worker: WorkerRow| {
            let jobs = held.get(&worker.num).copied().unwrap_or(0);
            (worker, jobs)
        };
        Ok(self.all_workers()?.into_iter().map(counted).collect())
    }
}

/// Sums rows of queue, state and number of jobs, which come ordered by queue.
pub fn sum_counts(cells: impl IntoIterator<Item = (i64, i64, i64)>) -> Vec<(i64, Counts)> {
    let mut all: Vec<(i64, Counts)> = Vec::new();
    for (queue, state, jobs) in cells {
        if all.last().is_none_or(|(last, _)| *last != queue) {
            all.push((queue, Counts::default()));
        }
        let counts = all.last_mut().map(|(_, counts)| counts);
        if let Some(cell) = counts.zip(usize::try_from(state).ok()).and_then(|(counts, state)| counts.get_mut(state)) {
            *cell = jobs;
        }
    }
    all
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
