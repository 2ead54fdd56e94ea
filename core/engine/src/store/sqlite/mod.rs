//! Tables in one SQLite file: WAL, `synchronous=FULL` where a commit must survive a power cut.
//!
//! Statements are in `sql/`, one file each. Names are interned; the caches are dropped when another process has
//! written.

/// A statement of `sql/`.
macro_rules! sql {
    ($name:literal) => {
        $crate::store::row::fill::filled!(include_str!(concat!("sql/", $name, ".sql")))
    };
}

mod admin;
mod audit;
pub mod checkup;
mod dead_letters;
mod declared;
mod fair;
pub mod inspect;
mod job_types;
mod limits;
mod log;
mod log_file;
pub mod migration;
mod optional;
mod queues;
mod records;
mod results;
mod rows;
mod select;
mod unwritten;
mod versions;

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use foldhash::{HashMap, HashMapExt};
use ojs_model::lazy::Lazy;
use ojs_model::unique::UniqueKey;
use ojs_model::{JobId, JobState, NewJob};
use rusqlite::config::DbConfig;
use rusqlite::{CachedStatement, Connection, ErrorCode, OpenFlags, params};

use crate::error::{Result, StoreError};
use crate::features::{self, TABLES};
use crate::kernel::job::{Body, History, JobRow};
use crate::options::Durability;
use crate::store::due;
use crate::store::heads::Heads;
use crate::store::names::{NameTables, Names};
use crate::store::record::text::Dialect;
use crate::store::row::{Row, Section};
use crate::store::rows::{Counts, EventBatch};
use crate::store::selection::{Selection, counting, counting_once};
use crate::store::tables::{Tables, sum_counts};
use log_file::LogFile;
use rows::read_whole;
use unwritten::Unwritten;

/// Asks whether any job or record is due.
static ANYTHING_DUE: Lazy<String> = Lazy::new(|| due::statement(sql!("anything_due"), Dialect::Sqlite, features::due()));
/// How long a transaction waits for another process's.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Prepared statements kept per connection: all of them.
const STATEMENTS: usize = 192;
/// Active jobs remembered: about 5 MB. Those beyond are looked up.
const MAX_ACTIVE_KEPT: usize = 20_000;
/// Lease tokens reserved at a time. Large, so that a restart is the only time a range is reserved in practice.
const LEASE_RANGE: i64 = 1 << 32;

/// A connection and what it has learnt.
#[derive(Debug)]
pub struct SqliteTables {
    connection: Connection,
    /// Whether this connection may write.
    writes: bool,
    durability: Durability,
    /// The log, for a connection that writes.
    log: Option<LogFile>,
    /// Whether the connection syncs at commit now.
    syncing: bool,
    data_version: i64,
    changed: bool,
    names: Names,
    /// Rows of active jobs as this connection wrote them: an ack finds its row without a query.
    active: HashMap<JobId, JobRow>,
    /// Updates of jobs that wait for the next statement.
    unwritten: Unwritten,
    /// The optional indexes that the file is known to have.
    optional: Cell<u8>,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Unavailable(format!("{error}; free some disk space, nothing confirmed is lost")),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Unavailable(format!("{error}; another process has held the database for over {} s", BUSY_TIMEOUT.as_secs()))
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl SqliteTables {
    /// Opens the file for writing, creating it and its schema when missing.
    ///
    /// # Errors
    /// When the file cannot be opened, is no database, or was written by a newer version.
    pub fn open(path: &Path, durability: Durability) -> Result<Self> {
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        migration::schema_of(&connection)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // A Mac's fsync leaves the data in the drive's cache; elsewhere these change nothing.
        if durability == Durability::Full {
            connection.pragma_update(None, "fullfsync", true)?;
            connection.pragma_update(None, "checkpoint_fullfsync", true)?;
        }
        let log = LogFile::watch(&mut connection, path)?;
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        migration::migrate(&transaction)?;
        declared::complete(&transaction)?;
        transaction.commit()?;
        Self::from_connection(connection, Some(log), durability)
    }

    /// An empty database in memory with the schema of this version: what files are compared with.
    ///
    /// # Errors
    /// None in practice.
    pub(super) fn pattern() -> Result<Connection> {
        let mut connection = Connection::open_in_memory()?;
        let transaction = connection.transaction()?;
        migration::migrate(&transaction)?;
        declared::complete(&transaction)?;
        transaction.commit()?;
        Ok(connection)
    }

    /// Before a file is opened: makes whole what a process that was killed has left. Says whether there was such a process.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn recover(path: &Path) -> Result<bool> {
        log_file::recover(path)
    }

    /// Opens a second connection for queries.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open_reader(path: &Path) -> Result<Self> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        Self::from_connection(connection, None, Durability::Relaxed)
    }

    fn from_connection(connection: Connection, log: Option<LogFile>, durability: Durability) -> Result<Self> {
        let writes = log.is_some();
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        connection.pragma_update(None, "synchronous", "FULL")?;
        // Plans must not depend on bound values: the planner would look at `LIMIT ?` and prepare the claim anew at every call.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        // In KiB: room for the hot end of the indexes. Grows only as it is used. Not more: after most commits SQLite looks through its whole table
        // of pages for the one it had lent a number behind the end (`PENDING_BYTE_PAGE`).
        connection.pragma_update(None, "cache_size", if writes { -8_192 } else { -4_096 })?;
        Ok(Self {
            connection,
            writes,
            log,
            durability,
            syncing: true,
            data_version: 0,
            changed: false,
            names: Names::default(),
            active: HashMap::new(),
            unwritten: Unwritten::default(),
            optional: Cell::new(0),
        })
    }

    #[cfg(test)]
    fn pragma(&self, name: &str) -> bool {
        self.connection.pragma_query_value(None, name, |row| row.get(0)).unwrap()
    }

    /// Every statement is taken from here: it must find what the updates that wait will write.
    fn statement(&self, sql: &str) -> Result<CachedStatement<'_>> {
        self.unwritten.write(&self.connection)?;
        Ok(self.connection.prepare_cached(sql)?)
    }

    fn execute(&self, sql: &str, params: impl rusqlite::Params) -> Result<usize> {
        Ok(self.statement(sql)?.execute(params)?)
    }

    fn forget_names(&mut self) {
        self.names.forget();
        self.active.clear();
    }

    /// Notices commits of other connections: names and pauses may have changed.
    fn look_around(&mut self) -> Result<()> {
        let version: i64 = self.statement("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if version != self.data_version {
            self.data_version = version;
            self.changed = true;
            self.forget_names();
        }
        Ok(())
    }
}

impl Tables for SqliteTables {
    fn settle(&mut self) -> Result<()> {
        match &mut self.log {
            Some(log) => log.settle(&self.connection),
            None => Ok(()),
        }
    }

    fn begin(&mut self, durable: bool) -> Result<()> {
        self.settle()?;
        let sync = durable && self.durability == Durability::Full;
        if self.writes && sync != self.syncing {
            // Only between transactions; a later synced commit covers the unsynced ones before it.
            self.connection.execute_batch(if sync { "PRAGMA synchronous = FULL" } else { "PRAGMA synchronous = NORMAL" })?;
            self.syncing = sync;
        }
        self.execute(if self.writes { "BEGIN IMMEDIATE" } else { "BEGIN" }, [])?;
        if let Err(fault) = self.look_around() {
            self.rollback();
            return Err(fault);
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let done = self.statement("COMMIT")?.execute([]);
        match (done, &mut self.log) {
            (Ok(_), _) => Ok(()),
            (Err(error), Some(log)) => Err(log.judge(&self.connection, error)),
            (Err(error), None) => Err(error.into()),
        }
    }

    fn rollback(&mut self) {
        self.unwritten.forget();
        self.forget_names();
        self.forget_indexes();
        // Nothing to roll back when SQLite has done it already.
        if let Err(fault) = self.execute("ROLLBACK", []) {
            tracing::debug!(error = %fault, "rollback");
        }
    }

    fn changes(&self) -> u64 {
        self.connection.total_changes() + self.unwritten.len()
    }

    fn insert_all(&mut self, jobs: &[&NewJob], rows: &mut [JobRow]) -> Result<Option<usize>> {
        rows.iter().try_for_each(|row| self.index_for(row))?;
        // Looked up once for the batch, not once per job.
        let mut insert_job = self.statement(&rows::INSERT_JOB)?;
        let mut insert_body = self.statement(&rows::INSERT_BODY)?;
        for (index, (job, row)) in jobs.iter().zip(rows).enumerate() {
            if rows::insert_job(&mut insert_job, row, job.unique.as_ref().map(|policy| &policy.key))? == 0 {
                return Ok(Some(index));
            }
            row.seq = self.connection.last_insert_rowid();
            rows::insert_body(&mut insert_body, row.seq, job)?;
        }
        Ok(None)
    }

    fn find_unique(&mut self, key: &UniqueKey, states: &[JobState], since: i64) -> Result<Option<JobRow>> {
        let mut newest: Option<JobRow> = None;
        for state in states {
            let params = params![&key.as_bytes()[..], *state as u8, since];
            let found = self.one(sql!("find_unique"), params, |row| rows::read(row, 0))?;
            newest = newest.into_iter().chain(found).max_by_key(|row| row.seq);
        }
        Ok(newest)
    }

    fn row(&mut self, id: JobId) -> Result<Option<JobRow>> {
        if let Some(row) = self.active.get(&id) {
            return Ok(Some(row.clone()));
        }
        self.one(sql!("job_by_id"), [&id.as_bytes()[..]], |row| rows::read(row, 0))
    }

    fn update(&mut self, before: &JobRow, after: &JobRow) -> Result<()> {
        self.index_for(after)?;
        if after.state == JobState::Active && self.active.len() < MAX_ACTIVE_KEPT {
            self.active.insert(after.id, after.clone());
        } else {
            self.active.remove(&after.id);
        }
        if self.unwritten.take(before, after) {
            return Ok(());
        }
        let changed = rows::Changed::between(before, after);
        rows::write(&mut self.statement(changed.statement())?, after.seq, after, |section| changed.has(section))?;
        if after.differs(before, Section::Moved) {
            rows::write(&mut self.statement(&rows::MOVE_JOB)?, after.seq, after, Section::is_moved)?;
        }
        Ok(())
    }

    fn delete(&mut self, row: &JobRow) -> Result<()> {
        self.active.remove(&row.id);
        for sql in [sql!("delete_job"), sql!("delete_body"), sql!("delete_history")] {
            self.execute(sql, [row.seq])?;
        }
        Ok(())
    }

    fn body(&mut self, seq: i64) -> Result<Body> {
        let body = self.one(sql!("body"), [seq], |row| rows::read(row, 0))?;
        body.ok_or_else(|| StoreError::Failed(format!("job number {seq} has no body")))
    }

    fn history(&mut self, seq: i64) -> Result<History> {
        Ok(self.one(sql!("history"), [seq], |row| rows::read(row, 0))?.unwrap_or_default())
    }

    fn set_history(&mut self, seq: i64, history: &History) -> Result<()> {
        rows::write(&mut self.statement(&rows::SET_HISTORY)?, seq, history, Section::is_any).map(drop)
    }

    fn ready(&mut self, heads: &Heads<'_>) -> Result<Vec<(JobRow, Body)>> {
        match *heads {
            Heads::Queue { queue, limit } => self.all(sql!("ready"), params![queue, limit], read_whole),
            Heads::Keys { queue, rank, wanted } => self.ready_of_keys(queue, rank, wanted),
            Heads::Versions { lines, limit } => self.ready_of_versions(lines, limit),
        }
    }

    fn anything_due(&mut self, now: i64, silent_since: i64) -> Result<bool> {
        let mut statement = self.statement(&ANYTHING_DUE)?;
        Ok(statement.query_row([now, silent_since], |row| row.get(0))?)
    }

    fn select(&mut self, wanted: &Selection<'_>, limit: usize) -> Result<Vec<JobRow>> {
        if self.lacks_indexes_of(wanted)? {
            return Ok(Vec::new());
        }
        let queue = self.queue_wanted(wanted.queue_name())?;
        let params = wanted.params(queue, limit);
        self.job_rows(&self.text_of(wanted)?, rusqlite::params_from_iter(params.iter().map(|param| &param.cell)))
    }

    fn count(&mut self, wanted: &Selection<'_>, most: usize) -> Result<usize> {
        if self.lacks_indexes_of(wanted)? {
            return Ok(0);
        }
        let queue = self.queue_wanted(wanted.queue_name())?;
        let params = wanted.params(queue, most);
        let text = match self.text_of(wanted)? {
            Cow::Borrowed(text) => Cow::Borrowed(counting_once(text)),
            Cow::Owned(text) => Cow::Owned(counting(&text)),
        };
        let params = rusqlite::params_from_iter(params.iter().map(|param| &param.cell));
        Ok(self.one(&text, params, |row| Ok(row.get(0)?))?.unwrap_or(0))
    }

    fn add_count(&mut self, queue: i64, count: usize, delta: i64) -> Result<()> {
        self.execute(sql!("add_count"), params![queue, count, delta]).map(drop)
    }

    fn counted(&mut self, queue: Option<i64>) -> Result<Vec<(i64, Counts)>> {
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        Ok(sum_counts(match queue {
            Some(queue) => self.all(sql!("counts"), [queue], read)?,
            None => self.all(sql!("all_counts"), [], read)?,
        }))
    }

    fn prune_workers(&mut self) -> Result<()> {
        self.names.forget_workers();
        self.execute(sql!("prune_workers"), []).map(drop)
    }

    fn append_events(&mut self, at: i64, lines: &str, count: usize) -> Result<()> {
        self.execute(sql!("append_events"), params![at, count, lines]).map(drop)
    }

    fn events_from(&mut self, seq: i64, limit: usize) -> Result<Vec<EventBatch>> {
        self.all(sql!("events_from"), params![seq, limit], |row| rows::read(row, 0))
    }

    fn prune_events(&mut self, before: i64, max: u64) -> Result<()> {
        self.execute(sql!("prune_events"), params![before, i64::try_from(max).unwrap_or(i64::MAX)]).map(drop)
    }

    fn reserve_leases(&mut self) -> Result<Range<i64>> {
        let first: i64 = self.statement(sql!("reserve_leases"))?.query_row([LEASE_RANGE], |row| row.get(0))?;
        Ok(first..first + LEASE_RANGE)
    }

    fn changed_elsewhere(&mut self) -> Result<bool> {
        self.look_around()?;
        Ok(std::mem::take(&mut self.changed))
    }

    fn reset(&mut self) -> Result<()> {
        self.unwritten.write(&self.connection)?;
        self.forget_names();
        for table in ["jobs", "bodies", "histories", "counts", "events"] {
            self.connection.execute_batch(&format!("DELETE FROM {table}"))?;
        }
        for table in TABLES.iter() {
            self.connection.execute_batch(&format!("DELETE FROM {}", table.name))?;
        }
        Ok(())
    }
}
