//! The outbox: rows for the application's connection, and the relay.
use std::sync::{Arc, Mutex, PoisonError};

use napi_derive::napi;
use ojs::outbox::same_database;
use ojs_abi::fakes;
use ojs_abi::outbox::{self, Relay as Core, Row, Settings, Source};

use crate::connection::{Connection, millis};
use crate::gate;
use crate::replies::{Answer, Replies};
use crate::transport::HostTransport;

/// A row to be written: `params` in the order of the placeholders of `sql`.
#[napi(object)]
pub struct OutboxRow {
    /// The id that the job will have.
    pub id: String,
    /// One statement.
    pub sql: String,
    /// Texts, or null.
    pub params: Vec<Option<String>>,
}

impl From<Row> for OutboxRow {
    fn from(row: Row) -> Self {
        Self { id: row.id, sql: row.sql, params: row.params }
    }
}

/// An enqueue request as a row shall hold it: with its arguments encrypted, where the connection does so. The relay has no key.
#[napi]
pub fn outbox_encrypted(connection: &Connection, request: String) -> napi::Result<String> {
    gate::enter("outboxEncrypted", || {
        let text = outbox::encrypted(&connection.core, request.as_bytes())?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    })
}

/// The row of an outbox for the JSON text of an enqueue request.
#[napi]
pub fn outbox_stage(request: String, database: String, table: String, style: String) -> napi::Result<OutboxRow> {
    gate::enter("outboxStage", || Ok(outbox::stage(request.as_bytes(), &database, &table, &style)?.into()))
}

/// The engine's own row, where the engine shares the application's PostgreSQL.
#[napi]
pub fn outbox_stage_in_engine(request: String, style: String) -> napi::Result<OutboxRow> {
    gate::enter("outboxStageInEngine", || Ok(outbox::stage_in_engine(request.as_bytes(), &style)?.into()))
}

/// The statements that make the tables, or add what they lack.
#[napi]
pub fn outbox_migration(database: String, table: String) -> napi::Result<Vec<String>> {
    gate::enter("outboxMigration", || outbox::migration(&database, &table))
}

/// One step of finding out whether the server keeps its jobs in the application's database, from JSON to JSON.
#[napi]
pub fn same_database_step(event: String) -> napi::Result<String> {
    gate::enter("sameDatabaseStep", || ojs_abi::same_database::step(&event))
}

/// The query that lists the jobs which are not sent yet.
#[napi]
pub fn outbox_staged_query(database: String, table: String, in_engine: bool) -> napi::Result<String> {
    gate::enter("outboxStagedQuery", || outbox::staged_query(&database, &table, in_engine))
}

/// What a fake records of a request: a JSON array of jobs.
#[napi]
#[must_use]
pub fn fake_recorded(method: String, path: String, body: String) -> String {
    fakes::recorded(&method, &path, body.as_bytes())
}

/// Where in a JSON array of recorded jobs those stand that a test asks for.
#[napi]
pub fn fake_matching(jobs: String, wanted: String) -> napi::Result<Vec<u32>> {
    gate::enter("fakeMatching", || fakes::matching(&jobs, &wanted))
}

/// Notifies the nodes of a server in the same database, after a commit.
#[napi]
#[must_use]
pub fn same_database_notify() -> String {
    same_database::NOTIFY.to_owned()
}

/// How a relay works; lengths of time are milliseconds.
#[napi(object)]
pub struct RelaySettings {
    /// The table.
    pub table: String,
    /// `postgresql` or `sqlite`.
    pub database: String,
    /// Of a PostgreSQL that the relay reads itself.
    pub url: Option<String>,
    /// How often it looks when it is not woken.
    pub poll_interval: Option<f64>,
    /// Most rows in one request.
    pub batch_size: Option<u32>,
    /// How long rows are kept after they were sent.
    pub retention: Option<f64>,
    /// Whether the tables are made first.
    pub migrate: bool,
}

/// What a relay has done so far.
#[napi(object)]
pub struct RelayStatus {
    /// Whether this one sends; others wait.
    pub leading: bool,
    /// Jobs the server took.
    pub sent: f64,
    /// Jobs the server had already.
    pub deduplicated: f64,
    /// Times it refused one.
    pub refused: f64,
    /// Rows given up.
    pub parked: f64,
    /// Times that everything waited for the server.
    pub held_up: f64,
    /// The latest error; null once it works again.
    pub error: Option<String>,
}

/// A relay: not started, running, or over.
#[napi]
#[derive(Default)]
pub struct Relay {
    core: Arc<Mutex<Option<Arc<Core>>>>,
}

#[napi]
impl Relay {
    /// A relay that does not run yet.
    #[napi(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts it. It reads PostgreSQL by URL, or any database through `host`, which answers `POST /outbox`.
    #[napi]
    pub fn start(
        &self,
        replies: &Replies,
        ticket: f64,
        connection: &Connection,
        settings: RelaySettings,
        host: Option<&HostTransport>,
    ) -> napi::Result<()> {
        let RelaySettings { table, database, url, poll_interval, batch_size, retention, migrate } = settings;
        let (source, settings) = gate::enter("Relay.start", || {
            let source = Source::of(url.as_deref(), &database, host.map(|host| &host.core))?;
            let batch_size = batch_size.and_then(|size| usize::try_from(size).ok());
            let (poll_interval, retention) = (millis("pollInterval", poll_interval)?, millis("retention", retention)?);
            Ok((source, Settings { poll_interval, batch_size, retention, migrate }))
        })?;
        let (place, connection) = (Arc::clone(&self.core), Arc::clone(&connection.core));
        replies.submit("Relay.start", ticket, async move {
            let core = Core::start(connection, &table, source, settings).await?;
            place.lock().unwrap_or_else(PoisonError::into_inner).replace(Arc::new(core));
            Ok(Answer::Number(None))
        })
    }

    /// A transaction has committed.
    #[napi]
    pub fn wake(&self) {
        if let Some(core) = self.running() {
            core.wake();
        }
    }

    /// What it has done so far; null unless it runs.
    #[napi]
    #[must_use]
    pub fn status(&self) -> Option<RelayStatus> {
        let status = self.running()?.status()?;
        let count = |number: u64| number as f64;
        Some(RelayStatus {
            leading: status.leading,
            sent: count(status.sent),
            deduplicated: count(status.deduplicated),
            refused: count(status.refused),
            parked: count(status.parked),
            held_up: count(status.held_up),
            error: status.error,
        })
    }

    /// Sends what is committed, for at most `grace` milliseconds, and ends. A second call does nothing.
    #[napi]
    pub fn stop(&self, replies: &Replies, ticket: f64, grace: f64) -> napi::Result<()> {
        let grace = gate::enter("Relay.stop", || millis("grace", Some(grace)))?.unwrap_or_default();
        let core = self.core.lock().unwrap_or_else(PoisonError::into_inner).take();
        replies.submit("Relay.stop", ticket, async move {
            if let Some(core) = core {
                core.stop(grace).await;
            }
            Ok(Answer::Number(None))
        })
    }

    fn running(&self) -> Option<Arc<Core>> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
