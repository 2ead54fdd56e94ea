//! Tables in PostgreSQL, for several writers and several nodes.
//!
//! | module | noun |
//! |---|---|
//! | `target`, `tls`, `connection` | where the database is; a connection that finds its way back |
//! | `migrations`, `node` | the schema and its versions; what the connections of a process share |
//! | `transaction` | what is sent in the open transaction |
//! | `ahead` | what a group of commands will ask for, in one exchange |
//! | `unit_of_work`, `arrays` | one transaction's rows: read in one go, written in one go, as arrays |
//! | `line` | where the line of a queue begins |
//! | `held` | jobs leased here: their rows, and when a batch of claims is over |
//! | `moves` | claims and completions, the changes that nearly every job goes through |
//! | `names` | numbers of queues, job types, workers |
//! | `raw`, `listener` | jobs inserted by plain SQL; wake-ups between nodes |
//! | `checkup`, `audit` | what an operator should know about a database; what an audit asks of it |
//!
//! A writer's transaction is three round trips, whatever the size of the group: open and read ahead, write, commit. Nothing is held back in
//! memory that another node needs: any node may enqueue, lease, settle, and the row itself decides (state and lease must be as they were
//! read). Time is the database's.

/// A statement of `sql/`.
macro_rules! sql {
    ($name:literal) => {
        $crate::store::row::fill::filled!(include_str!(concat!("sql/", $name, ".sql")))
    };
}

mod admin;
mod ahead;
mod arrays;
mod audit;
pub mod checkup;
mod connection;
mod dead_letters;
mod declared;
mod held;
mod job_types;
mod limits;
mod line;
mod listener;
mod log;
mod migrations;
mod moves;
mod names;
mod node;
mod params;
mod queues;
mod raw;
mod records;
mod results;
mod rows;
mod target;
mod tls;
mod transaction;
mod unit_of_work;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ojs_model::unique::UniqueKey;
use ojs_model::{JobId, JobState, NewJob, Timestamp};

use crate::error::{Result, StoreError};
use crate::kernel::clock::Clock;
use crate::kernel::job::{Body, History, JobRow};
use crate::store::row::Row as _;
use crate::store::rows::{Counts, DeadFilter, EventBatch, JobFilter, QueueRow, RawJob, WorkerRow};
use crate::store::tables::Tables;
use crate::store::wanted::Wanted;
use connection::Db;
use names::Names;
pub use node::Node;
use params::{Param, uuid};
use rows::{get, read};
pub use target::{Notes, Target, Target as PostgresTarget};
use unit_of_work::UnitOfWork;

/// Lease tokens reserved at a time. 2^29 ranges of this size stay below 2^53, the largest integer of JavaScript.
const LEASE_RANGE: i64 = 1 << 24;
/// Our transactions end within this time: the limit of a statement, with room. A gap in the event log older than that stays one.
const LONGEST_TRANSACTION_MS: i64 = 60_000;
/// Filed claims taken apart at a time: more than all writers of a few nodes file between two looks.
const MAX_TAKEN_APART: i64 = 2_000;
/// Shards of the counts of a queue.
const SHARDS: i64 = 32;

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Commands.
    Writer,
    /// Maintenance, of one node at a time.
    Maintenance,
    /// Queries, each from one snapshot.
    Reader,
}

/// One connection's tables.
#[derive(Debug)]
pub struct PostgresTables {
    db: Db,
    node: Arc<Node>,
    role: Role,
    shard: i64,
    names: Names,
    unit_of_work: UnitOfWork,
    open: bool,
    durable: bool,
    now: Timestamp,
    /// After a conflict: nothing is taken for granted in the next transaction.
    careful: bool,
    /// Rows changed by statements; the unit of work counts its own.
    changes: u64,
}

impl PostgresTables {
    /// A connection for a role.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub fn open(node: &Arc<Node>, role: Role) -> Result<Self> {
        Ok(Self {
            db: Db::open(Arc::clone(&node.target))?,
            node: Arc::clone(node),
            role,
            shard: (node.number * 7 + node.limit_of_clients.fetch_add(1, Ordering::Relaxed)) % SHARDS,
            names: Names::default(),
            unit_of_work: UnitOfWork::default(),
            open: false,
            durable: true,
            now: Timestamp::from_millis(0),
            careful: false,
            changes: 0,
        })
    }
}

fn limit(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The schema that this program writes.
pub const fn newest_schema() -> i64 {
    migrations::newest()
}

/// The schema of a database as it is; 0 for none.
///
/// # Errors
/// When the database cannot be reached or read.
pub fn schema_version(url: &str) -> Result<i64> {
    migrations::current(&mut Db::open(Target::new(url)?)?)
}

impl Tables for PostgresTables {
    fn begin(&mut self, durable: bool) -> Result<()> {
        (self.unit_of_work, self.open, self.durable) = (UnitOfWork::default(), false, durable);
        Ok(())
    }

    fn prepare(&mut self, wanted: &Wanted<'_>) -> Result<()> {
        self.read_ahead(wanted)
    }

    fn now(&mut self, clock: &dyn Clock) -> Timestamp {
        match (clock.is_wall(), self.open) {
            (false, _) => clock.now(),
            (true, true) => self.now,
            (true, false) => Timestamp::from_millis(clock.now().as_millis().saturating_add(self.node.ahead())),
        }
    }

    fn commit(&mut self) -> Result<()> {
        if self.writes() {
            let ended = self.unit_of_work.written().filter(|(_, leased)| !leased).map(|(row, _)| row);
            let batches = self.node.leased().ending(ended);
            self.unit_of_work.ended = batches;
        }
        self.flush()?;
        if self.open {
            self.noted(|tables| tables.db.run("COMMIT")).map_err(|fault| match fault {
                StoreError::Unavailable(what) => StoreError::Unknown(what),
                other => other,
            })?;
            self.open = false;
        }
        if self.unit_of_work.pools.values().any(|pool| !pool.jobs.is_empty()) {
            self.node.lines().forget();
        }
        if self.writes() {
            self.unit_of_work.remember(&mut self.node.leased());
        }
        self.careful = false;
        Ok(())
    }

    fn rollback(&mut self) {
        // What was learnt inside the transaction may not exist.
        self.names.forget();
        self.node.lines().forget();
        let mut leased = self.node.leased();
        for row in self.unit_of_work.seen() {
            leased.forget(row.id);
        }
        drop(leased);
        self.unit_of_work = UnitOfWork::default();
        if std::mem::take(&mut self.open)
            && let Err(fault) = self.db.run("ROLLBACK")
        {
            tracing::debug!(%fault, "rollback");
        }
    }

    fn changes(&self) -> u64 {
        self.changes + self.unit_of_work.changes()
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn lead(&mut self) -> Result<bool> {
        Ok(!self.query(sql!("lead"), &[&self.node.name.clone()])?.is_empty())
    }

    fn resign(&mut self) -> Result<()> {
        self.execute(sql!("resign"), &[&self.node.name.clone()]).map(drop)
    }

    fn insert_all(&mut self, jobs: &[&NewJob], rows: &mut [JobRow]) -> Result<Option<usize>> {
        for (index, (job, row)) in jobs.iter().zip(rows).enumerate() {
            if self.unit_of_work.row(job.id).is_some() {
                return Ok(Some(index));
            }
            row.seq = self.node.next_seq(self.now);
            self.unit_of_work.create(job, row);
        }
        Ok(None)
    }

    fn find_unique(&mut self, key: &UniqueKey, states: &[JobState], since: i64) -> Result<Option<JobRow>> {
        self.flush()?;
        let bytes = key.as_bytes();
        let lock = bytes.iter().take(8).fold(0_i64, |lock, byte| lock << 8 | i64::from(*byte));
        if self.writes() && self.unit_of_work.locked_keys.insert(lock) {
            // Held until the end of the transaction: who comes second sees what the first has stored.
            self.query(sql!("lock_key"), &[&lock])?;
        }
        let (key, states): (Vec<u8>, Vec<i64>) = (bytes.to_vec(), states.iter().map(|state| *state as i64).collect());
        Ok(self.job_rows(sql!("find_unique"), &[&key, &states, &since])?.pop())
    }

    fn expect_rows(&mut self, ids: &[JobId]) -> Result<()> {
        let unread: Vec<JobId> =
            ids.iter().copied().filter(|id| self.unit_of_work.row(*id).is_none() && !self.unit_of_work.is_absent(*id)).collect();
        if unread.is_empty() {
            return Ok(());
        }
        let uuids: Vec<_> = unread.iter().map(|id| uuid(*id)).collect();
        let rows = self.query(sql!("lock_by_id"), &[&uuids])?;
        self.keep_rows(&unread, &rows)
    }

    fn row(&mut self, id: JobId) -> Result<Option<JobRow>> {
        if let Some(row) = self.unit_of_work.row(id) {
            return Ok(Some(row));
        }
        if self.unit_of_work.is_absent(id) {
            return Ok(None);
        }
        let statement = if self.writes() { sql!("lock_by_id") } else { sql!("job_by_id") };
        let rows = self.query(statement, &[&vec![uuid(id)]])?;
        self.keep_rows(&[id], &rows)?;
        Ok(self.unit_of_work.row(id))
    }

    fn update(&mut self, before: &JobRow, after: &JobRow) -> Result<()> {
        self.unit_of_work.update(before, after);
        Ok(())
    }

    fn delete(&mut self, row: &JobRow) -> Result<()> {
        self.node.leased().forget(row.id);
        self.unit_of_work.delete(row);
        Ok(())
    }

    fn body(&mut self, seq: i64) -> Result<Body> {
        if let Some(body) = self.unit_of_work.body(seq) {
            return Ok(body);
        }
        let rows = self.query(sql!("body"), &[&seq])?;
        rows.first()
            .map_or_else(|| Err(StoreError::Conflict(format!("job number {seq} was deleted meanwhile"))), |row| read(row, 0))
    }

    fn history(&mut self, seq: i64) -> Result<History> {
        if let Some(history) = self.unit_of_work.history(seq) {
            return Ok(history);
        }
        Ok(self.query(sql!("history"), &[&seq])?.first().map(|row| read(row, 0)).transpose()?.unwrap_or_default())
    }

    fn set_history(&mut self, seq: i64, history: &History) -> Result<()> {
        self.unit_of_work.set_history(seq, history);
        Ok(())
    }

    fn ready(&mut self, queue: i64, wanted: usize) -> Result<Vec<(JobRow, Body)>> {
        let short = self.unit_of_work.pools.get(&queue).is_none_or(|pool| pool.jobs.len() < wanted && !pool.exhausted);
        if short {
            // Jobs read ahead and not taken are still available to this transaction, which holds them: read again with the others.
            self.flush()?;
            self.unit_of_work.pools.remove(&queue);
            self.read_line(queue, wanted, line::BEGINNING)?;
        }
        let Some(pool) = self.unit_of_work.pools.get_mut(&queue) else { return Ok(Vec::new()) };
        let taken = pool.jobs.len().min(wanted);
        Ok(pool.jobs.drain(..taken).collect())
    }

    fn anything_due(&mut self, now: i64, silent_since: i64) -> Result<bool> {
        let rows = self.query(sql!("anything_due"), &[&now, &silent_since])?;
        Ok(rows.first().map(|row| get(row, 0)).transpose()?.unwrap_or(false))
    }

    fn due(&mut self, now: i64, count: usize) -> Result<Vec<JobRow>> {
        let mut rows = self.job_rows(sql!("due_scheduled"), &[&now, &limit(count)])?;
        rows.extend(self.job_rows(sql!("due_retryable"), &[&now, &limit(count)])?);
        rows.sort_by_key(|row| row.sort_key);
        rows.truncate(count);
        Ok(rows)
    }

    fn overdue(&mut self, now: i64, count: usize) -> Result<Vec<JobRow>> {
        self.flush()?;
        self.execute(sql!("take_apart"), &[&now, &MAX_TAKEN_APART])?;
        self.job_rows(sql!("overdue"), &[&now, &limit(count)])
    }

    fn expired(&mut self, now: i64, count: usize) -> Result<Vec<JobRow>> {
        self.job_rows(sql!("expired"), &[&now, &limit(count)])
    }

    fn held_by(&mut self, worker: i64, count: usize) -> Result<Vec<JobRow>> {
        self.job_rows(sql!("held_by"), &[&worker, &limit(count)])
    }

    fn terminal(&mut self, after: i64, count: usize) -> Result<(Vec<JobRow>, Option<i64>)> {
        let slice = self.job_rows(sql!("slice"), &[&after, &limit(count)])?;
        let next = if slice.len() < count { None } else { slice.last().map(|row| row.seq) };
        Ok((slice.into_iter().filter(|row| row.state.is_terminal()).collect(), next))
    }

    fn dead(&mut self, filter: &DeadFilter) -> Result<(Vec<JobRow>, usize)> {
        let queue = self.queue_wanted(filter.queue.as_deref())?;
        let job_type = &filter.job_type;
        let (since, until) = (filter.since, filter.until);
        let error = &filter.error_type;
        let page: [&dyn Param; 7] = [&queue, job_type, &since, &until, error, &limit(filter.limit), &limit(filter.offset)];
        let rows = self.job_rows(sql!("dead"), &page)?;
        let count = self.query(sql!("count_dead"), &[&queue, job_type, &since, &until, error])?;
        let total: i64 = count.first().map(|row| get(row, 0)).transpose()?.unwrap_or(0);
        Ok((rows, usize::try_from(total).unwrap_or(0)))
    }

    fn jobs(&mut self, filter: &JobFilter) -> Result<Vec<JobRow>> {
        self.list_jobs(filter)
    }

    fn queue(&mut self, name: &str, now: Timestamp) -> Result<QueueRow> {
        self.queue_named(name, now)
    }

    fn find_queue(&mut self, name: &str) -> Result<Option<QueueRow>> {
        self.queue_if_known(name)
    }

    fn queue_by_num(&mut self, num: i64) -> Result<QueueRow> {
        self.queue_numbered(num)
    }

    fn lock_queue(&mut self, num: i64) -> Result<QueueRow> {
        self.queue_locked(num)
    }

    fn queues(&mut self) -> Result<Vec<QueueRow>> {
        self.query(sql!("queues"), &[])?.iter().map(names::read_queue).collect()
    }

    fn save_queue(&mut self, queue: &QueueRow) -> Result<()> {
        self.store_queue(queue)
    }

    fn add_counts(&mut self, queue: i64, delta: &Counts) -> Result<()> {
        self.unit_of_work.add_counts(queue, delta);
        Ok(())
    }

    fn counts(&mut self, queue: i64) -> Result<Counts> {
        let mut counts = Counts::default();
        for row in self.query(sql!("counts"), &[&queue])? {
            let state: i16 = get(&row, 0)?;
            if let Some(cell) = usize::try_from(state).ok().and_then(|state| counts.get_mut(state)) {
                *cell = get(&row, 1)?;
            }
        }
        self.unit_of_work.counted(queue, &mut counts);
        Ok(counts)
    }

    fn job_type_id(&mut self, name: &str) -> Result<i64> {
        self.job_type_named(name)
    }

    fn job_type_name(&mut self, num: i64) -> Result<Arc<str>> {
        self.job_type_numbered(num)
    }

    fn worker(&mut self, id: &str) -> Result<WorkerRow> {
        self.worker_named(id)
    }

    fn worker_name(&mut self, num: i64) -> Result<Option<Arc<str>>> {
        self.worker_numbered(num)
    }

    fn save_worker(&mut self, worker: &WorkerRow) -> Result<()> {
        self.unit_of_work.save_worker(worker);
        Ok(())
    }

    fn silent_workers(&mut self, since: i64) -> Result<Vec<WorkerRow>> {
        self.flush()?;
        self.workers_silent(since)
    }

    fn forget_worker(&mut self, num: i64) -> Result<()> {
        self.execute(sql!("forget_worker"), &[&num]).map(drop)
    }

    fn prune_workers(&mut self) -> Result<()> {
        self.flush()?;
        self.execute(sql!("prune_workers"), &[]).map(drop)
    }

    fn append_events(&mut self, at: i64, lines: &str, count: usize) -> Result<()> {
        self.unit_of_work.append_events(at, lines, count);
        Ok(())
    }

    fn events_from(&mut self, seq: i64, count: usize) -> Result<Vec<EventBatch>> {
        let old = self.now.as_millis().saturating_sub(LONGEST_TRANSACTION_MS);
        let rows = self.query(sql!("events_from"), &[&seq, &limit(count), &old])?;
        let (mut batches, mut expected) = (Vec::with_capacity(rows.len()), seq.max(1));
        for row in rows {
            let batch: EventBatch = read(&row, 0)?;
            let settled: bool = get(&row, EventBatch::TABLE.columns.len())?;
            if batch.seq > expected && !settled {
                // Somebody may still be writing the number in between: it must not be skipped.
                break;
            }
            expected = batch.seq + 1;
            batches.push(batch);
        }
        Ok(batches)
    }

    fn prune_events(&mut self, before: i64, max: u64) -> Result<()> {
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        self.execute(sql!("prune_events"), &[&before, &max]).map(drop)
    }

    fn reserve_leases(&mut self) -> Result<Range<i64>> {
        let rows = self.query(sql!("reserve_leases"), &[])?;
        let number: i64 = rows.first().map(|row| get(row, 0)).transpose()?.unwrap_or(0);
        let first = number.saturating_mul(LEASE_RANGE);
        Ok(first..first.saturating_add(LEASE_RANGE))
    }

    fn changed_elsewhere(&mut self) -> Result<bool> {
        // Announced by the listener while it hears anything.
        Ok(!self.node.is_listening())
    }

    fn raw_jobs(&mut self, count: usize, left_out: &[Arc<str>]) -> Result<Vec<RawJob>> {
        self.take_raw_jobs(count, left_out)
    }

    fn reset(&mut self) -> Result<()> {
        self.unit_of_work = UnitOfWork::default();
        self.names.forget();
        self.node.leased().clear();
        self.node.lines().forget();
        self.execute(sql!("reset"), &[])?;
        self.execute(&declared::TRUNCATE, &[])?;
        self.new_epoch()
    }
}
