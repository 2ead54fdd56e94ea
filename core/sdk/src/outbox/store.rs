//! The outbox in its database: who relays, what is due, what became of it.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::Serialize;

use super::database::{Database, DatabaseError, Rows, Statement, Value};
use super::dialect::{Dialect, FILL_SLOTS, HIGHEST, HOLDERS, OLD, SEQUENCE, Sql, Table, bind};
use super::gate::Gate;
use super::in_flight;
use super::row::Row;

/// An outbox table in a database.
#[derive(Clone)]
pub struct Store {
    database: Arc<dyn Database>,
    table: Table,
    checked: Arc<AtomicBool>,
}

/// The right to relay.
#[derive(Debug, Clone)]
pub(super) struct Lease {
    pub owner: String,
    pub term: i64,
    pub identity: String,
}

/// How far the relay is behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Lag {
    /// Rows that wait to be sent.
    pub pending: u64,
    /// Age of the oldest of them, in milliseconds.
    pub oldest_ms: u64,
    /// Rows that the server has refused for good.
    pub parked: u64,
}

/// [`Lag`] as far as a bounded look tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Backlog {
    /// Rows that wait to be sent, at most [`MOST_COUNTED`].
    pub waiting: u64,
    /// Whether there are more.
    pub waits_more: bool,
    /// Age of the row that was inserted first, in milliseconds.
    pub oldest_ms: u64,
    /// Rows that the server has refused for good, at most as many.
    pub parked: u64,
}

/// Most rows that are counted in a look that is repeated for as long as a relay runs. The statements count one more.
const MOST_COUNTED: u64 = 10_000;

/// A row that the server has refused for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Parked {
    /// Number of the row.
    pub id: i64,
    /// Type of the job.
    pub job_type: String,
    /// Id of the job, if the row has one.
    pub job_id: Option<String>,
    /// How often it was sent.
    pub attempts: i64,
    /// When it was given up, as the database writes it.
    pub parked_at: String,
    /// What the server said.
    pub error: String,
}

type Result<T> = std::result::Result<T, DatabaseError>;

impl Store {
    /// The outbox of this name in that database.
    pub fn new(table: Table, database: impl Database) -> Self {
        Self { database: Arc::new(database), table, checked: Arc::default() }
    }

    /// The outbox of this name in the PostgreSQL or MySQL database of a URL. Connects with the first use.
    ///
    /// # Errors
    /// A URL that is none, or of a database that this build does not read (features `outbox-postgres`, `outbox-mysql`).
    pub fn by_url(table: Table, url: &str) -> Result<Self> {
        #[cfg(feature = "outbox-mysql")]
        if super::MysqlOutbox::takes(url) {
            return Ok(Self::new(table, super::MysqlOutbox::new(url)?));
        }
        #[cfg(feature = "outbox-postgres")]
        return Ok(Self::new(table, super::PostgresOutbox::new(url)?));
        #[cfg(not(feature = "outbox-postgres"))]
        {
            let scheme = url.split(':').next().unwrap_or_default();
            Err(DatabaseError(format!(
                "{}: this build does not read databases of {scheme}: URLs, for which it needs the Cargo features `outbox-postgres` and \
                 `outbox-mysql`. `make python` builds the Python package with them",
                table.name()
            )))
        }
    }

    /// Makes the tables, or adds what a table lacks that was made by the specification's DDL. May be run again, also
    /// while other processes do the same: [`Dialect::migration`] takes a lock.
    ///
    /// # Errors
    /// The database refuses.
    pub async fn migrate(&self) -> Result<()> {
        let statements = self.database.dialect().migration(&self.table);
        self.database.run(statements.into_iter().map(|sql| Statement { sql, params: Vec::new() }).collect()).await?;
        Ok(())
    }

    /// How far the relay is behind.
    ///
    /// # Errors
    /// The database refuses.
    pub async fn lag(&self) -> Result<Lag> {
        let rows = self.one(Sql::lag, &[]).await?;
        let [pending, oldest_ms, parked] = numbers(&rows);
        Ok(Lag { pending, oldest_ms, parked })
    }

    /// The same without reading more than a bounded number of rows, however many wait.
    pub(super) async fn backlog(&self) -> Result<Backlog> {
        let rows = self.one(Sql::backlog, &[]).await?;
        let [counted, oldest_ms, parked] = numbers(&rows);
        let (waiting, waits_more) = (counted.min(MOST_COUNTED), counted > MOST_COUNTED);
        Ok(Backlog { waiting, waits_more, oldest_ms, parked: parked.min(MOST_COUNTED) })
    }

    /// Rows that the server has refused for good, oldest first.
    ///
    /// # Errors
    /// The database refuses.
    pub async fn parked(&self, limit: u32) -> Result<Vec<Parked>> {
        let rows = self.one(Sql::parked, &[("limit", Value::from(i64::from(limit)))]).await?;
        let text = |value: &Value| value.text().unwrap_or_default().to_owned();
        let read = |row: &Vec<Value>| {
            let [id, job_type, job_id, attempts, parked_at, error] = row.as_slice() else { return None };
            let job_id = job_id.text().map(str::to_owned);
            Some(Parked {
                id: id.integer()?,
                job_type: text(job_type),
                job_id,
                attempts: attempts.integer()?,
                parked_at: text(parked_at),
                error: text(error),
            })
        };
        Ok(rows.iter().filter_map(read).collect())
    }

    /// Sends a parked row again, or all of them; returns how many.
    ///
    /// # Errors
    /// The database refuses.
    pub async fn replay(&self, id: Option<i64>) -> Result<usize> {
        Ok(self.one(Sql::replay, &[("id", Value::from(id.unwrap_or(0)))]).await?.len())
    }

    /// Deletes a parked row, or all of them; returns how many.
    ///
    /// # Errors
    /// The database refuses.
    pub async fn drop_parked(&self, id: Option<i64>) -> Result<usize> {
        Ok(self.one(Sql::drop, &[("id", Value::from(id.unwrap_or(0)))]).await?.len())
    }

    pub(super) fn table_name(&self) -> &str {
        self.table.name()
    }

    pub(super) fn database(&self) -> &dyn Database {
        &*self.database
    }

    /// Takes the lease, or keeps it; `None` while another relay has it.
    pub(super) async fn claim(&self, owner: &str, length: Duration) -> Result<Option<Lease>> {
        self.check().await?;
        let rows = self.one(Sql::claim, &[("owner", Value::from(owner)), ("ttl", millis(length))]).await?;
        let Some([term, identity]) = rows.first().map(Vec::as_slice) else { return Ok(None) };
        let (Some(term), Some(identity)) = (term.integer(), identity.text()) else { return Ok(None) };
        Ok(Some(Lease { owner: owner.to_owned(), term, identity: identity.to_owned() }))
    }

    /// Gives the lease back.
    pub(super) async fn release(&self, lease: &Lease) -> Result<()> {
        self.one(Sql::release, &holder(lease)).await.map(drop)
    }

    /// A sequence that gives out numbers in stocks gives them out in no order; a gate that was emptied lets everybody pass.
    async fn check(&self) -> Result<()> {
        let dialect = self.database.dialect();
        if dialect == Dialect::Sqlite || self.checked.load(Ordering::Relaxed) {
            return Ok(());
        }
        if dialect == Dialect::Mysql {
            self.database.run(vec![Dialect::plain(FILL_SLOTS, &self.table)]).await?;
            self.checked.store(true, Ordering::Relaxed);
            return Ok(());
        }
        let rows = self.database.run(vec![Dialect::plain(SEQUENCE, &self.table)]).await?;
        let cache = rows.first().and_then(|rows| rows.first()).and_then(|row| row.first()).and_then(Value::integer);
        match cache {
            Some(1) => {
                self.checked.store(true, Ordering::Relaxed);
                Ok(())
            }
            Some(cache) => Err(DatabaseError(format!(
                "the sequence of {}.id has CACHE {cache}: rows would be sent out of order; ALTER SEQUENCE … CACHE 1",
                self.table.name()
            ))),
            None => Err(DatabaseError(format!("{}.id has no sequence: make the table with the migration", self.table.name()))),
        }
    }

    /// Rows above `after` that are due and that no row can precede any more.
    pub(super) async fn read(&self, lease: &Lease, gate: &mut Gate, after: i64, limit: usize) -> Result<Vec<Row>> {
        let settled = gate.settled();
        let upto = match self.database.dialect() {
            Dialect::Sqlite => i64::MAX,
            Dialect::Mysql => {
                // What is settled already needs no look.
                let rows = self.upto(lease, settled, after, limit).await?;
                if rows.len() >= limit {
                    return Ok(rows);
                }
                in_flight::observe(&*self.database, &self.table, gate).await?
            }
            Dialect::Postgres => {
                // One exchange: the rows are read behind the look, so all that it settles is among them. While a transaction is waited
                // for, rows behind it are not read again and again: only what is settled already comes along.
                let behind = !gate.is_waiting();
                let (read, style) = (Dialect::Postgres.template(Sql::read, &self.table), Dialect::Postgres.style());
                let ready = bind(&read, style, &above(after, if behind { i64::MAX } else { settled }, limit));
                let (highest, holders) = (Dialect::plain(HIGHEST, &self.table), Dialect::plain(HOLDERS, &self.table));
                let answers = self.database.run(vec![highest, holders, ready]).await?;
                let [highest, holders, ready] = answers.as_slice() else { return Ok(Vec::new()) };
                let highest = highest.first().and_then(|row| row.first()).and_then(Value::integer).unwrap_or(0);
                let name = |row: &Vec<Value>| Some(row.first()?.text()?.to_owned());
                let upto = gate.observe(highest, holders.iter().filter_map(name).collect());
                let mut rows = rows_of(lease, ready);
                if behind || rows.len() >= limit || upto == settled {
                    rows.retain(|row| row.id <= upto);
                    return Ok(rows);
                }
                upto
            }
        };
        self.upto(lease, upto, after, limit).await
    }

    async fn upto(&self, lease: &Lease, upto: i64, after: i64, limit: usize) -> Result<Vec<Row>> {
        Ok(rows_of(lease, &self.one(Sql::read, &above(after, upto, limit)).await?))
    }

    /// Whether a row is due, committed by whomever.
    pub(super) async fn is_due(&self) -> Result<bool> {
        Ok(!self.one(Sql::read, &above(0, i64::MAX, 1)).await?.is_empty())
    }

    /// Marks rows as sent. False when another relay has taken the lease: nothing is marked then.
    pub(super) async fn sent(&self, lease: &Lease, ids: &[i64], note: Option<&str>) -> Result<bool> {
        Ok(self.mark(Sql::sent, lease, ids, note).await?.len() == ids.len())
    }

    /// Notes why rows wait.
    pub(super) async fn waiting(&self, lease: &Lease, ids: &[i64], error: &str) -> Result<()> {
        self.mark(Sql::waiting, lease, ids, Some(error)).await.map(drop)
    }

    /// Notes that the server refuses a row, and when it is tried again, or that it is parked.
    pub(super) async fn refused(&self, lease: &Lease, id: i64, error: &str, delay: Duration, park: bool) -> Result<()> {
        let mut named = vec![("id", Value::from(id)), ("error", Value::from(error)), ("delay", millis(delay))];
        named.push(("park", Value::from(i64::from(park))));
        named.extend(holder(lease));
        self.one(Sql::refused, &named).await.map(drop)
    }

    /// Deletes what was sent, or parked, long ago; returns how many sent rows.
    pub(super) async fn prune(&self, sent: Duration, parked: Duration) -> Result<usize> {
        if self.database.dialect() == Dialect::Sqlite {
            let ages = [("age_sent", millis(sent)), ("age_parked", millis(parked))];
            let look = bind(&self.table.within(OLD), Dialect::Sqlite.style(), &ages);
            if self.database.run(vec![look]).await?.concat().is_empty() {
                return Ok(0);
            }
        }
        let rows = self.one(Sql::prune_sent, &[("age", millis(sent))]).await?;
        self.one(Sql::prune_parked, &[("age", millis(parked))]).await?;
        Ok(rows.len())
    }

    async fn mark(&self, sql: Sql, lease: &Lease, ids: &[i64], error: Option<&str>) -> Result<Rows> {
        let ids = serde_json::to_string(ids).map_err(|e| DatabaseError(e.to_string()))?;
        let mut named = vec![("ids", Value::Text(ids)), ("error", Value::from(error))];
        named.extend(holder(lease));
        self.one(sql, &named).await
    }

    async fn one(&self, sql: Sql, named: &[(&str, Value)]) -> Result<Rows> {
        let dialect = self.database.dialect();
        let template = dialect.template(sql, &self.table);
        // Without RETURNING it takes a second statement to know.
        let statements = template.split(";\n").map(|sql| bind(sql, dialect.style(), named));
        Ok(self.database.run(statements.collect()).await?.pop().unwrap_or_default())
    }
}

/// The numbers of the only row; 0 where there is none.
fn numbers(rows: &Rows) -> [u64; 3] {
    [0, 1, 2].map(|at| {
        let value = rows.first().and_then(|row| row.get(at)).and_then(Value::integer);
        value.and_then(|value| u64::try_from(value).ok()).unwrap_or(0)
    })
}

fn rows_of(lease: &Lease, rows: &Rows) -> Vec<Row> {
    rows.iter().filter_map(|row| Row::read(row, &lease.identity)).collect()
}

fn above(after: i64, upto: i64, limit: usize) -> [(&'static str, Value); 3] {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    [("after", Value::from(after)), ("upto", Value::from(upto)), ("limit", Value::from(limit))]
}

fn holder(lease: &Lease) -> [(&'static str, Value); 2] {
    [("owner", Value::from(lease.owner.as_str())), ("term", Value::from(lease.term))]
}

fn millis(length: Duration) -> Value {
    Value::from(i64::try_from(length.as_millis()).unwrap_or(i64::MAX))
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("table", &self.table.name()).finish_non_exhaustive()
    }
}
