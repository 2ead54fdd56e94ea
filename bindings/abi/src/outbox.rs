//! The outbox for host languages: rows for the application's connection as JSON, and the relay.
//!
//! The host's own driver writes the row, inside the application's transaction; the relay reads PostgreSQL and MySQL itself, and SQLite
//! through the host's driver, which it asks by a [`HostTransport`].
use std::borrow::Cow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ojs::outbox::same_database;
use ojs::outbox::{Dialect, HostDatabase, Relay as Core, RelayOptions, RelayStatus, Staged, Store, Style, Table};
use ojs::transport::Transport;
use serde::Serialize;

use crate::connection::Connection;
use crate::error::AbiError;
use crate::host_transport::HostTransport;
use crate::process::Owner;
use crate::runtime;
use crate::sync::lock;

/// A row to be written: `params` in the order of the placeholders of `sql`. As JSON: `{"id", "sql", "params"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The id that the job will have.
    pub id: String,
    /// One statement.
    pub sql: String,
    /// Texts, or null.
    pub params: Vec<Option<String>>,
}

fn invalid(error: impl std::fmt::Display) -> AbiError {
    AbiError::invalid(error.to_string())
}

fn dialect(name: &str) -> Result<Dialect, AbiError> {
    match name {
        "postgresql" => Ok(Dialect::Postgres),
        "sqlite" => Ok(Dialect::Sqlite),
        "mysql" => Ok(Dialect::Mysql),
        other => Err(AbiError::invalid(format!("no outbox in '{other}': the database must be postgresql, mysql or sqlite"))),
    }
}

/// How the host's driver writes placeholders, by the names of Python's DB-API.
fn style(name: &str) -> Result<Style, AbiError> {
    match name {
        "qmark" => Ok(Style::Question),
        "numeric_dollar" => Ok(Style::Dollar),
        "format" | "pyformat" => Ok(Style::Percent),
        other => Err(AbiError::invalid(format!(
            "the driver's paramstyle '{other}' is not one of qmark, numeric_dollar, format, pyformat"
        ))),
    }
}

fn table(name: &str) -> Result<Table, AbiError> {
    Table::new(name).map_err(invalid)
}

/// The statements that make the tables, or add what they lack.
///
/// # Errors
/// An unknown database, or a name that is none.
pub fn migration(database: &str, name: &str) -> Result<Vec<String>, AbiError> {
    Ok(dialect(database)?.migration(&table(name)?))
}

/// The query that lists the jobs which are not sent yet, without parameters: id, type, arguments and options as
/// texts, under the names `id`, `type`, `args`, `options`. With `in_engine` it reads the engine's own table.
///
/// # Errors
/// As [`migration`].
pub fn staged_query(database: &str, name: &str, in_engine: bool) -> Result<String, AbiError> {
    if in_engine {
        return Ok(same_database::STAGED.trim_end().to_owned());
    }
    Ok(dialect(database)?.staged(&table(name)?))
}

/// An enqueue request in the form of the row: with its arguments encrypted where the connection does so. The relay has
/// no key.
///
/// # Errors
/// There is no current key.
pub fn encrypted<'a>(connection: &Connection, request: &'a [u8]) -> Result<Cow<'a, [u8]>, AbiError> {
    Ok(ojs::outbox::encrypted(request, connection.codec())?)
}

/// The row of an outbox for an enqueue request.
///
/// # Errors
/// A request that no server would take, an unknown database, style or table.
pub fn stage(request: &[u8], database: &str, name: &str, paramstyle: &str) -> Result<Row, AbiError> {
    let staged = ojs::outbox::stage(request, dialect(database)?, &table(name)?)?;
    Ok(row(&staged, style(paramstyle)?))
}

/// The engine's own row for an enqueue request, where the engine shares the application's PostgreSQL.
///
/// # Errors
/// As [`stage`], and a request with a schema.
pub fn stage_in_engine(request: &[u8], paramstyle: &str) -> Result<Row, AbiError> {
    Ok(row(&same_database::stage(request)?, style(paramstyle)?))
}

fn row(staged: &Staged, style: Style) -> Row {
    let (sql, params) = staged.texts(style);
    Row { id: staged.job_id.clone(), sql, params }
}

/// Where a relay reads.
#[derive(Debug)]
pub enum Source {
    /// PostgreSQL or MySQL, by URL.
    Url(String),
    /// Whatever database the host's driver reaches, which answers `POST /outbox`.
    Host {
        /// `postgresql` or `sqlite`.
        database: String,
        /// Where the host waits for statements.
        host: Arc<HostTransport>,
    },
}

impl Source {
    /// By the URL of a PostgreSQL or MySQL database, or through the host's driver.
    ///
    /// # Errors
    /// Neither is given, or both.
    pub fn of(url: Option<&str>, database: &str, host: Option<&Arc<HostTransport>>) -> Result<Self, AbiError> {
        match (url, host) {
            (Some(url), None) => Ok(Self::Url(url.to_owned())),
            // Every statement must be a transaction of its own there, some see what is not committed: not for a pool of the application's.
            (None, Some(_)) if database == "mysql" => {
                Err(AbiError::invalid("a relay reads MySQL by its URL, mysql://…: give url"))
            }
            (None, Some(host)) => Ok(Self::Host { database: database.to_owned(), host: Arc::clone(host) }),
            _ => Err(AbiError::invalid(
                "a relay needs the URL of a PostgreSQL or MySQL database, or the program's own database, one of them: url or host",
            )),
        }
    }
}

/// Settings that a host may leave to the defaults.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    /// How often it looks when it is not woken.
    pub poll_interval: Option<Duration>,
    /// Most rows in one request, 1 to 1000.
    pub batch_size: Option<usize>,
    /// How long rows are kept after they were sent.
    pub retention: Option<Duration>,
    /// Whether the tables are made first.
    pub migrate: bool,
}

impl Settings {
    fn options(self) -> RelayOptions {
        let mut options = RelayOptions::default();
        options.poll_interval = self.poll_interval.unwrap_or(options.poll_interval);
        options.retention = self.retention.unwrap_or(options.retention);
        options.batch_size = self.batch_size.unwrap_or(options.batch_size).clamp(1, 1000);
        options
    }
}

/// A running relay. It does not follow a fork: a child starts its own.
#[derive(Debug)]
pub struct Relay {
    owner: Owner,
    core: Mutex<Option<Core>>,
}

impl Relay {
    /// Starts it on the runtime.
    ///
    /// # Errors
    /// No connection, a URL or name that is none, or tables that cannot be made.
    pub async fn start(connection: Arc<Connection>, name: &str, source: Source, settings: Settings) -> Result<Self, AbiError> {
        let table = table(name)?;
        let store = match source {
            Source::Url(url) => Store::by_url(table, &url).map_err(invalid)?,
            Source::Host { database, host } => {
                Store::new(table, HostDatabase::new(dialect(&database)?, host as Arc<dyn Transport>))
            }
        };
        if settings.migrate {
            store.migrate().await.map_err(|e| AbiError::System(e.to_string()))?;
        }
        let client = connection.client().await?;
        Ok(Self { owner: Owner::current(), core: Mutex::new(Some(Core::start(client, store, settings.options()))) })
    }

    /// A transaction has committed. Never waits.
    pub fn wake(&self) {
        if self.owner.is_current() {
            lock(&self.core).iter().for_each(Core::wake);
        }
    }

    /// What it has done so far; `None` when it is stopped, or was started before a fork.
    #[must_use]
    pub fn status(&self) -> Option<RelayStatus> {
        if !self.owner.is_current() {
            return None;
        }
        lock(&self.core).as_ref().map(Core::status)
    }

    /// Sends what is committed, for at most `grace`, and ends. A second call does nothing.
    pub async fn stop(&self, grace: Duration) {
        let core = if self.owner.is_current() { lock(&self.core).take() } else { None };
        if let Some(core) = core {
            core.stop(grace).await;
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let Some(core) = self.core.get_mut().ok().and_then(Option::take) else { return };
        if !self.owner.is_current() {
            // The parent's task does not run here; only the parent may close its sockets.
            std::mem::forget(core);
        } else if let Ok(runtime) = runtime::handle() {
            // The end does not wait for it: what is committed and not sent is left to another relay, or to the next
            // start.
            runtime.spawn(core.stop(Duration::ZERO));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_for_each_driver() {
        let request = br#"{"type":"email.welcome","args":[7]}"#;
        for (paramstyle, place) in [("qmark", "?"), ("numeric_dollar", "$1"), ("format", "%s")] {
            let row = stage(request, "postgresql", "ojs_outbox", paramstyle).unwrap();
            assert!(row.sql.contains(place), "{}", row.sql);
            assert_eq!(
                row.params,
                [Some("email.welcome"), Some("[7]"), Some("{}"), Some(row.id.as_str())].map(|t| t.map(str::to_owned))
            );
        }
        let row = stage(request, "mysql", "ojs_outbox", "format").unwrap();
        // The id is the row's, and says which slot of the gate it takes.
        assert_eq!((row.sql.matches("%s").count(), row.params.len()), (5, 5));
        assert_eq!(row.params[3..], [Some(row.id.clone()), Some(row.id.clone())]);
        let row = stage_in_engine(request, "numeric_dollar").unwrap();
        assert_eq!(row.params[0].as_deref(), Some(row.id.as_str()));
        assert_eq!(row.params[5], None);
    }

    #[test]
    fn what_is_not_known_is_named() {
        let request = br#"{"type":"a","args":[]}"#;
        for (result, word) in [
            (stage(request, "oracle", "ojs_outbox", "qmark"), "oracle"),
            (stage(request, "sqlite", "no table", "qmark"), "no table"),
            (stage(request, "sqlite", "ojs_outbox", "named"), "named"),
            (stage_in_engine(b"{}", "qmark"), "type"),
        ] {
            assert!(result.unwrap_err().to_string().contains(word));
        }
        assert!(migration("oracle", "ojs_outbox").is_err());
    }
}
