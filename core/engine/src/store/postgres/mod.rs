//! Tables in PostgreSQL, for several writers and several nodes.
//!
//! | module | noun |
//! |---|---|
//! | `target`, `tls`, `connection` | the address of the database; a connection that is opened again when it is lost |
//! | `migrations`, `node` | the schema and its versions; state that the connections of a process share |
//! | `transaction` | the statements of the open transaction |
//! | `ahead` | reads the rows that a group of commands needs, in one exchange |
//! | `unit_of_work`, `arrays` | one transaction's rows: read in one go, written in one go, as arrays |
//! | `log` | the event log: its extent, and which of its numbers may still come |
//! | `line`, `pool` | where the line of a queue begins; jobs of it that were read ahead |
//! | `held` | jobs leased here: their rows, and when a batch of claims is over |
//! | `moves` | claims and completions, the changes that nearly every job goes through |
//! | `raw`, `listener` | jobs inserted by plain SQL; wake-ups between nodes |
//! | `checkup`, `audit` | checks of a database for operators; the statements of an audit |
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
mod drift;
mod fair;
mod held;
mod job_types;
mod limits;
mod line;
mod listener;
mod log;
mod migrations;
mod moves;
mod node;
mod params;
mod pool;
mod queues;
mod raw;
mod records;
mod results;
mod rows;
mod select;
mod target;
mod tls;
mod transaction;
mod unit_of_work;
mod versions;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use foldhash::HashMap;
use ojs_model::lazy::Lazy;
use ojs_model::unique::UniqueKey;
use ojs_model::{JobId, JobState, NewJob, Timestamp};

use crate::error::{Result, StoreError};
use crate::features;
use crate::kernel::clock::Clock;
use crate::kernel::holds::Holds;
use crate::kernel::job::{Body, History, JobRow};
use crate::store::due;
use crate::store::heads::Heads;
use crate::store::names::Names;
use crate::store::record::text::Dialect;
use crate::store::row::Row;
use crate::store::rows::{Counts, EventBatch, RawJob};
use crate::store::selection::Selection;
use crate::store::tables::{Tables, sum_counts};
use crate::store::wanted::Wanted;
use connection::Db;
use log::Look;
pub use node::Node;
use params::uuid;
use rows::{get, read};
pub use target::{Notes, Target, Target as PostgresTarget};
use unit_of_work::UnitOfWork;

/// Asks whether any job or record is due.
static ANYTHING_DUE: Lazy<String> = Lazy::new(|| due::statement(sql!("anything_due"), Dialect::Postgres, features::due()));
/// Lease tokens reserved at a time. 2^29 ranges of this size stay below 2^53, the largest integer of JavaScript.
const LEASE_RANGE: i64 = 1 << 24;
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
    /// Epoch of what is remembered.
    epoch: i64,
    unit_of_work: UnitOfWork,
    open: bool,
    durable: bool,
    now: Timestamp,
    /// After a conflict: nothing is taken for granted in the next transaction.
    careful: bool,
    /// Rows changed by statements; the unit of work counts its own.
    changes: u64,
    /// Which numbers of the event log are known to be settled.
    look: Look,
}

impl PostgresTables {
    /// Parts of several jobs by number, in one exchange.
    fn parts<R: Row>(&mut self, statement: &'static str, seqs: &[i64]) -> Result<HashMap<i64, R>> {
        if seqs.is_empty() {
            return Ok(HashMap::default());
        }
        self.flush()?;
        let rows = self.query(statement, &[&seqs.to_vec()])?;
        rows.iter().map(|row| Ok((get(row, 0)?, read(row, 1)?))).collect()
    }

    /// Jobs at the head of the line of a queue.
    fn ready_of_queue(&mut self, queue: i64, wanted: usize) -> Result<Vec<(JobRow, Body)>> {
        if !self.unit_of_work.pools.get(&queue).is_some_and(|pool| pool.has(wanted)) {
            // Jobs read ahead and not taken are still available to this transaction, which holds them: read again with the others.
            self.flush()?;
            self.unit_of_work.pools.remove(&queue);
            self.read_line(queue, wanted, line::BEGINNING)?;
        }
        let Some(pool) = self.unit_of_work.pools.get_mut(&queue) else { return Ok(Vec::new()) };
        let taken = pool.jobs.len().min(wanted);
        Ok(pool.jobs.drain(..taken).collect())
    }

    /// Makes every connection forget what it remembers.
    fn new_epoch(&mut self) -> Result<()> {
        self.execute(sql!("bump_epoch"), &[]).map(drop)
    }

    /// A connection for a role.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub fn open(node: &Arc<Node>, role: Role) -> Result<Self> {
        let shard = (node.number * 7 + node.limit_of_clients.fetch_add(1, Ordering::Relaxed)) % SHARDS;
        Ok(Self {
            db: Db::open_for(Arc::clone(&node.target), role != Role::Reader)?,
            node: Arc::clone(node),
            role,
            shard,
            names: Names::shared(shard),
            epoch: 0,
            unit_of_work: UnitOfWork::default(),
            open: false,
            durable: true,
            now: Timestamp::from_millis(0),
            careful: false,
            changes: 0,
            look: Look::default(),
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
        self.names.changed = false;
        self.look = if self.look == Look::Wanted { Look::Wanted } else { Look::Before };
        // Heartbeats and directives come through any node.
        self.names.forget_reports();
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
        if std::mem::take(&mut self.names.changed) {
            // Last, so that transactions hold its row no longer than need be.
            self.new_epoch()?;
        }
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
        if self.writes() {
            // What was learnt inside the transaction may not exist.
            self.names.forget();
            self.node.lines().forget();
            let mut leased = self.node.leased();
            for row in self.unit_of_work.seen() {
                leased.forget(row.id);
            }
        }
        self.unit_of_work = UnitOfWork::default();
        if std::mem::take(&mut self.open)
            && let Err(fault) = self.db.run("ROLLBACK")
        {
            tracing::debug!(%fault, "rollback");
        }
    }

    fn make_durable(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.durable, true) && self.open {
            self.execute(sql!("make_durable"), &[])?;
        }
        Ok(())
    }

    fn changes(&self) -> u64 {
        self.changes + self.unit_of_work.changes()
    }

    fn lead(&mut self, stays: bool) -> Result<bool> {
        let node = self.node.name.clone();
        if stays {
            return Ok(!self.query(sql!("lead"), &[&node])?.is_empty());
        }
        self.execute(sql!("resign"), &[&node]).map(|_| false)
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
        let statement = if self.writes() { sql!("find_unique") } else { &select::FIND_UNIQUE_READ };
        Ok(self.job_rows(statement, &[&key, &states, &since])?.pop())
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

    fn bodies(&mut self, seqs: &[i64]) -> Result<HashMap<i64, Body>> {
        self.parts(sql!("bodies"), seqs)
    }

    fn history(&mut self, seq: i64) -> Result<History> {
        if let Some(history) = self.unit_of_work.history(seq) {
            return Ok(history);
        }
        Ok(self.query(sql!("history"), &[&seq])?.first().map(|row| read(row, 0)).transpose()?.unwrap_or_default())
    }

    fn histories(&mut self, seqs: &[i64]) -> Result<HashMap<i64, History>> {
        self.parts(sql!("histories"), seqs)
    }

    fn set_history(&mut self, seq: i64, history: &History) -> Result<()> {
        self.unit_of_work.set_history(seq, history);
        Ok(())
    }

    fn ready(&mut self, heads: &Heads<'_>) -> Result<Vec<(JobRow, Body)>> {
        match *heads {
            Heads::Queue { queue, limit } => self.ready_of_queue(queue, limit),
            Heads::Keys { queue, rank, wanted } => self.ready_of_keys(queue, rank, wanted),
            Heads::Versions { lines, limit } => self.ready_of_versions(lines, limit),
        }
    }

    fn may_have_passed(&mut self, queues: &[i64]) -> Result<bool> {
        self.flush()?;
        let lines = Holds::FREE.map(Holds::ranks);
        let (low, high) = (lines.map(|(low, _)| i64::from(low)), lines.map(|(_, high)| i64::from(high)));
        let rows = self.query(sql!("free_jobs"), &[&queues.to_vec(), &low.to_vec(), &high.to_vec()])?;
        Ok(rows.first().map(|row| get(row, 0)).transpose()?.unwrap_or(false))
    }

    fn anything_due(&mut self, now: i64, silent_since: i64) -> Result<bool> {
        let rows = self.query(&ANYTHING_DUE, &[&now, &silent_since])?;
        Ok(rows.first().map(|row| get(row, 0)).transpose()?.unwrap_or(false))
    }

    fn select(&mut self, wanted: &Selection<'_>, most: usize) -> Result<Vec<JobRow>> {
        self.selected(wanted, most)
    }

    fn count(&mut self, wanted: &Selection<'_>, most: usize) -> Result<usize> {
        self.counted_of(wanted, most)
    }

    fn add_count(&mut self, queue: i64, count: usize, delta: i64) -> Result<()> {
        self.unit_of_work.add_count(queue, count, delta);
        Ok(())
    }

    fn counted(&mut self, queue: Option<i64>) -> Result<Vec<(i64, Counts)>> {
        let rows = match queue {
            Some(queue) => self.query(sql!("counts"), &[&queue])?,
            None => self.query(sql!("all_counts"), &[])?,
        };
        let cells = rows.iter().map(|row| Ok((get(row, 0)?, i64::from(get::<i16>(row, 1)?), get(row, 2)?)));
        let mut counted = sum_counts(cells.collect::<Result<Vec<_>>>()?);
        if let Some(queue) = queue {
            let mut counts = counted.pop().map(|(_, counts)| counts).unwrap_or_default();
            self.unit_of_work.counted(queue, &mut counts);
            counted.push((queue, counts));
        }
        Ok(counted)
    }

    fn prune_workers(&mut self) -> Result<()> {
        self.flush()?;
        self.names.forget_workers();
        self.execute(sql!("prune_workers"), &[]).map(drop)
    }

    fn append_events(&mut self, at: i64, lines: &str, count: usize) -> Result<()> {
        self.unit_of_work.append_events(at, lines, count);
        Ok(())
    }

    fn events_from(&mut self, seq: i64, count: usize) -> Result<Vec<EventBatch>> {
        self.read_events(seq, count)
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
