//! One connection and the thread that owns it: statements go out together and are answered together.
//!
//! The connection uses a single-threaded runtime of its own, so a round trip wakes no other thread. Every exchange has
//! a time limit: a connection that neither answers nor fails is dropped.
use std::collections::HashMap;
use std::future::Future;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::runtime::Runtime;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row, Statement};

use super::params::Param;
use super::target::{Session, Target};
use crate::error::{Result, StoreError};

/// Longest wait for an answer. Statements of ours take milliseconds; the server itself gives up on one after [`STATEMENT_TIMEOUT_MS`].
const PATIENCE: Duration = Duration::from_secs(20);
/// The server's limit for one statement.
pub const STATEMENT_TIMEOUT_MS: u32 = 15_000;
/// How long a lost connection is looked for again before a command is refused: covers a restart of the database.
const RECONNECT_FOR: Duration = Duration::from_secs(5);
/// Pause between two attempts.
const RECONNECT_PAUSE: Duration = Duration::from_millis(100);

/// A statement and its parameters.
#[derive(Clone)]
pub struct Ask<'a> {
    pub sql: &'a str,
    pub params: Vec<&'a dyn Param>,
    /// Whether it is one of ours, worth keeping prepared.
    keep: bool,
}

impl<'a> Ask<'a> {
    pub fn new(sql: &'static str, params: &[&'a dyn Param]) -> Self {
        Self::with(sql, params.to_vec())
    }

    pub fn with(sql: &'static str, params: Vec<&'a dyn Param>) -> Self {
        Self { sql, params, keep: true }
    }

    /// A statement put together for one use.
    pub fn once(sql: &'a str, params: &[&'a dyn Param]) -> Self {
        Self { sql, params: params.to_vec(), keep: false }
    }

    /// The address of the text: a constant is the same statement wherever it is used.
    fn key(&self) -> usize {
        self.sql.as_ptr().addr()
    }
}

/// What a statement gave: rows, or the number of rows it changed.
#[derive(Debug, Default)]
pub struct Answer {
    pub rows: Vec<Row>,
    pub changed: u64,
}

/// A connection that finds its way back after a loss.
pub struct Db {
    target: Arc<Target>,
    runtime: Runtime,
    client: Option<Client>,
    session: Session,
    /// How often a connection of this process had died in silence when this one was made.
    made_after: u64,
    /// By the address of the constant that holds the text.
    statements: HashMap<usize, Statement>,
    /// Numbers of the event log up to this one are there or will never come. It is true of the server of this
    /// connection: another one may have lost some.
    pub settled: i64,
    /// Whether each statement is planned once for all values.
    keeps_plans: bool,
}

impl std::fmt::Debug for Db {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Db").field("target", &self.target).finish_non_exhaustive()
    }
}

impl Db {
    /// Connects.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses.
    pub fn open(target: Arc<Target>) -> Result<Self> {
        Self::open_for(target, false)
    }

    /// Connects; with `keeps_plans` each statement is planned once.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub fn open_for(target: Arc<Target>, keeps_plans: bool) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| StoreError::Failed(format!("cannot start a runtime: {error}")))?;
        let (session, statements) = (Session::default(), HashMap::new());
        let mut db = Self { target, runtime, client: None, session, made_after: 0, statements, settled: 0, keeps_plans };
        db.connect()?;
        Ok(db)
    }

    fn connect(&mut self) -> Result<()> {
        self.statements.clear();
        self.client = None;
        self.settled = 0;
        let target = Arc::clone(&self.target);
        self.made_after = target.silences();
        let (client, session) = self.runtime.block_on(target.connect(self.keeps_plans))?;
        (self.client, self.session) = (Some(client), session);
        Ok(())
    }

    /// Makes sure that there is a connection; call it between transactions only.
    ///
    /// When another connection of this process has died in silence, this one is made anew as well: to find out about each by waiting
    /// would take [`PATIENCE`] for each.
    pub fn revive(&mut self) -> Result<()> {
        if self.made_after != self.target.silences() {
            self.client = None;
        }
        if self.client.as_ref().is_some_and(|client| !client.is_closed()) {
            return Ok(());
        }
        let until = Instant::now() + RECONNECT_FOR;
        loop {
            match self.connect() {
                Ok(()) => return Ok(()),
                Err(fault) if Instant::now() >= until => return Err(fault),
                // The timer is made inside: it needs the runtime around it.
                Err(_) => self.runtime.block_on(async { tokio::time::sleep(RECONNECT_PAUSE).await }),
            }
        }
    }

    /// Whether statements may rely on the settings of the session (no pooler hands it to another client in between).
    pub fn session(&self) -> Session {
        self.session
    }

    /// Sends statements at once, preceded by `first` (plain SQL without an answer), and returns the answers in order.
    pub fn ask(&mut self, first: Option<&str>, asks: &[Ask<'_>]) -> Result<Vec<Answer>> {
        let outcome = self.try_ask(first, asks);
        if let Err(StoreError::Unavailable(_)) = outcome {
            // Whatever was under way is lost with the connection: the server rolls it back.
            self.client = None;
        }
        outcome
    }

    fn try_ask(&mut self, first: Option<&str>, asks: &[Ask<'_>]) -> Result<Vec<Answer>> {
        if self.session.named {
            for ask in asks {
                self.prepare(ask)?;
            }
        }
        let Some(client) = &self.client else {
            return Err(StoreError::Unavailable("the connection to PostgreSQL is lost".into()));
        };
        let statements = &self.statements;
        let work = async {
            let opening = async {
                match first {
                    Some(sql) => client.batch_execute(sql).await,
                    None => Ok(()),
                }
            };
            let answers = join_all(asks.iter().map(|ask| perform(client, statements.get(&ask.key()), ask)));
            // Both are polled in this order first: so they are sent, and answered, in this order.
            let (opened, answers) = futures_util::future::join(opening, answers).await;
            opened?;
            answers.into_iter().collect::<std::result::Result<Vec<_>, _>>()
        };
        in_time(&self.runtime, &self.target, work)
    }

    fn prepare(&mut self, ask: &Ask<'_>) -> Result<()> {
        if !ask.keep || self.statements.contains_key(&ask.key()) {
            return Ok(());
        }
        let Some(client) = &self.client else {
            return Err(StoreError::Unavailable("the connection to PostgreSQL is lost".into()));
        };
        let types: Vec<Type> = ask.params.iter().map(|param| param.kind()).collect();
        let statement = in_time(&self.runtime, &self.target, client.prepare_typed(ask.sql, &types))?;
        self.statements.insert(ask.key(), statement);
        Ok(())
    }

    /// Plain SQL without an answer.
    pub fn run(&mut self, sql: &str) -> Result<()> {
        self.ask(Some(sql), &[]).map(drop)
    }
}

async fn perform(
    client: &Client,
    statement: Option<&Statement>,
    ask: &Ask<'_>,
) -> std::result::Result<Answer, tokio_postgres::Error> {
    let rows = match statement {
        Some(statement) => {
            let params: Vec<&(dyn ToSql + Sync)> = ask.params.iter().map(|param| *param as &(dyn ToSql + Sync)).collect();
            client.query_raw(statement, params).await?
        }
        None => {
            let params: Vec<(&(dyn ToSql + Sync), Type)> =
                ask.params.iter().map(|param| (*param as &(dyn ToSql + Sync), param.kind())).collect();
            client.query_typed_raw(ask.sql, params).await?
        }
    };
    futures_util::pin_mut!(rows);
    let mut answer = Answer::default();
    while let Some(row) = futures_util::TryStreamExt::try_next(&mut rows).await? {
        answer.rows.push(row);
    }
    answer.changed = rows.rows_affected().unwrap_or(0);
    Ok(answer)
}

fn in_time<T>(
    runtime: &Runtime,
    target: &Target,
    work: impl Future<Output = std::result::Result<T, tokio_postgres::Error>>,
) -> Result<T> {
    match runtime.block_on(async { tokio::time::timeout(PATIENCE, work).await }) {
        Ok(outcome) => Ok(outcome?),
        Err(_) => {
            target.note_silence();
            Err(StoreError::Unavailable(format!("PostgreSQL has not answered for {} s", PATIENCE.as_secs())))
        }
    }
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(db) = error.as_db_error() else {
            // No answer of the server: the connection is broken, or was refused.
            let cause = std::error::Error::source(&error).map_or_else(String::new, |cause| format!(": {cause}"));
            return Self::Unavailable(format!("PostgreSQL: {error}{cause}"));
        };
        let text = format!("PostgreSQL: {} ({})", db.message(), db.code().code());
        let code = db.code();
        let is = |codes: &[SqlState]| codes.contains(code);
        if is(&[
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::LOCK_NOT_AVAILABLE,
            SqlState::UNIQUE_VIOLATION,
            // A pooler has handed the session to another client.
            SqlState::INVALID_SQL_STATEMENT_NAME,
            SqlState::DUPLICATE_PSTATEMENT,
        ]) {
            return Self::Conflict(text);
        }
        if is(&[SqlState::CHARACTER_NOT_IN_REPERTOIRE, SqlState::UNTRANSLATABLE_CHARACTER]) {
            return Self::Unstorable(text);
        }
        match code.code().get(..2) {
            // Connection, resources (disk, memory, connections), operator intervention, I/O.
            Some("08" | "53" | "57" | "58") => Self::Unavailable(text),
            _ => Self::Failed(text),
        }
    }
}

/// Checks that a text is a connection string.
///
/// # Errors
/// What is wrong with it.
pub fn parse(url: &str) -> std::result::Result<tokio_postgres::Config, String> {
    tokio_postgres::Config::from_str(url)
        .map_err(|error| std::error::Error::source(&error).map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}")))
}
