//! Rows for the application's connection, and the relay that sends them.
use std::sync::Arc;
use std::time::Duration;

use ojs::transport::{Request, Transport};
use ojs_abi::host_transport::HostTransport as Mailbox;
use ojs_abi::outbox::{self, Relay, Settings, Source};
use ojs_abi::{runtime, same_database};
use serde_json::json;

use crate::client::CoreClient;
use crate::error::{CoreError, call, enter};
use crate::transport::{HostTransport, Over};

/// Where the rows of a relay are, and how it looks for them. A setting that is null has its default.
#[derive(Debug, uniffi::Record)]
pub struct RelaySettings {
    /// The table.
    pub table: String,
    /// The URL of a PostgreSQL or MySQL database; without it the host's driver runs the statements.
    pub url: Option<String>,
    /// What the host's database is: `postgresql` or `sqlite`.
    pub database: String,
    /// Most rows in one request.
    pub batch_size: Option<u32>,
    /// How often it looks when it is not woken, in milliseconds.
    pub poll_ms: Option<u64>,
    /// How long rows are kept after they were sent, in milliseconds.
    pub retention_ms: Option<u64>,
    /// Whether the tables are made first.
    pub migrate: bool,
}

/// A running relay: sends the rows of an outbox that are committed, in their order.
#[derive(Debug, uniffi::Object)]
pub struct CoreRelay {
    core: Relay,
    statements: Option<Arc<Mailbox>>,
}

/// Hands the statements of a relay to the host, one list after the other, until the mailbox is shut.
async fn carry(mailbox: Arc<Mailbox>, host: Over) {
    loop {
        let waiting = Arc::clone(&mailbox);
        let next = tokio::task::spawn_blocking(move || waiting.pull(Duration::from_secs(60))).await;
        let request = match next {
            Ok(Ok(Some(request))) => request,
            Ok(Ok(None)) => continue,
            Ok(Err(_)) | Err(_) => return,
        };
        let mut sent = Request::new(ojs::transport::Method::POST, request.path);
        sent.body = request.body;
        match host.request(sent).await {
            Ok(answer) => mailbox.reply(request.ticket, answer.status, answer.body),
            Err(error) => mailbox.fail(request.ticket, error.to_string()),
        }
    }
}

/// Starts a relay that sends over the client. `host` runs statements where `settings` has no URL: it is sent `POST
/// /outbox` with `[{"sql", "params"}, …]`, runs all of it in one transaction, and answers `[[row, …], …]`, a list for
/// each statement.
///
/// # Errors
/// No connection, a URL or name that is none, or tables that cannot be made.
#[uniffi::export]
pub async fn start_relay(
    client: Arc<CoreClient>,
    settings: RelaySettings,
    host: Option<Arc<dyn HostTransport>>,
) -> Result<Arc<CoreRelay>, CoreError> {
    let mailbox = host.as_ref().map(|_| Mailbox::new());
    let (link, statements) = (Arc::clone(&client.link), mailbox.clone());
    let starting = async move {
        let source = Source::of(settings.url.as_deref(), &settings.database, statements.as_ref())?;
        if let (Some(mailbox), Some(host)) = (&statements, host) {
            tokio::spawn(carry(Arc::clone(mailbox), Over(host)));
        }
        let given = Settings {
            poll_interval: settings.poll_ms.map(Duration::from_millis),
            batch_size: settings.batch_size.and_then(|size| usize::try_from(size).ok()),
            retention: settings.retention_ms.map(Duration::from_millis),
            migrate: settings.migrate,
        };
        Relay::start(link, &settings.table, source, given).await
    };
    match call("relay_start", starting).await {
        Ok(core) => Ok(Arc::new(CoreRelay { core, statements: mailbox })),
        Err(error) => {
            mailbox.iter().for_each(|mailbox| mailbox.shut());
            Err(error)
        }
    }
}

#[uniffi::export]
impl CoreRelay {
    /// Says that a transaction has committed: the relay looks at once. Never waits.
    pub fn wake(&self) {
        self.core.wake();
    }

    /// What it has done so far, as JSON; `null` when it is stopped.
    pub fn status(&self) -> String {
        json!(self.core.status()).to_string()
    }

    /// Sends what is committed, for at most so many milliseconds, and ends. What is left stays in the table.
    ///
    /// # Errors
    /// The operating system gives no threads.
    pub fn stop(&self, grace_ms: u64) -> Result<(), CoreError> {
        enter("relay_stop", || {
            runtime::handle()?.block_on(self.core.stop(Duration::from_millis(grace_ms)));
            self.statements.iter().for_each(|mailbox| mailbox.shut());
            Ok(())
        })
    }
}

/// A row to be written by the application's connection.
#[derive(Debug, uniffi::Record)]
pub struct StagedRow {
    /// The id that the job will have.
    pub id: String,
    /// One statement.
    pub sql: String,
    /// Texts, or nothing, in the order of the placeholders.
    pub params: Vec<Option<String>>,
}

/// The row of an outbox for an enqueue request; `paramstyle` is `qmark`, `numeric_dollar`, `format` or `pyformat`. With
/// `in_engine` it is the engine's own row, where the engine shares the application's PostgreSQL.
///
/// # Errors
/// A request that no server would take, an unknown database, style or table.
#[uniffi::export]
pub fn outbox_row(
    request: &[u8],
    database: &str,
    table: &str,
    paramstyle: &str,
    in_engine: bool,
) -> Result<StagedRow, CoreError> {
    enter("outbox_stage", || {
        let row = if in_engine {
            outbox::stage_in_engine(request, paramstyle)?
        } else {
            outbox::stage(request, database, table, paramstyle)?
        };
        Ok(StagedRow { id: row.id, sql: row.sql, params: row.params })
    })
}

/// The statements that make the tables of an outbox, or add what they lack.
///
/// # Errors
/// An unknown database, or a name that is none.
#[uniffi::export]
pub fn outbox_migration(database: &str, table: &str) -> Result<Vec<String>, CoreError> {
    enter("outbox_migration", || outbox::migration(database, table))
}

/// The query that lists the jobs which are not sent yet, for tests.
///
/// # Errors
/// As [`outbox_migration`].
#[uniffi::export]
pub fn outbox_staged_query(database: &str, table: &str, in_engine: bool) -> Result<String, CoreError> {
    enter("outbox_staged_query", || outbox::staged_query(database, table, in_engine))
}

/// The statement that notifies the nodes of a server on the same database, after a commit.
#[uniffi::export]
pub fn outbox_notify() -> String {
    ojs::outbox::same_database::NOTIFY.to_owned()
}

/// One step of finding out whether a server keeps its jobs in the application's database, from JSON to JSON: see
/// `ojs_abi::same_database::step`.
///
/// # Errors
/// Text of another form.
#[uniffi::export]
pub fn outbox_same_database(event: &str) -> Result<String, CoreError> {
    enter("outbox_same_database", || same_database::step(event))
}
