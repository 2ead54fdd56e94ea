//! The outbox: rows for the application's connection, and the relay.
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ojs::outbox::{Dialect, HostDatabase, PostgresOutbox, Relay as Core, RelayOptions, Store, Style, Table, Value, stage};
use ojs::transport::Transport;
use ojs_abi::error::AbiError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::connection::{Connection, length};
use crate::gate;
use crate::transport::HostTransport;

fn dialect(name: &str) -> Result<Dialect, AbiError> {
    match name {
        "postgresql" => Ok(Dialect::Postgres),
        "sqlite" => Ok(Dialect::Sqlite),
        other => Err(AbiError::invalid(format!("no outbox in '{other}': the database must be postgresql or sqlite"))),
    }
}

fn table(name: &str) -> Result<Table, AbiError> {
    Table::new(name).map_err(|e| AbiError::invalid(e.to_string()))
}

/// The statements that make the tables, or add what they lack.
#[pyfunction]
pub fn outbox_migration(py: Python<'_>, database: &str, name: &str) -> PyResult<Vec<String>> {
    gate::attached(py, "outbox_migration", || Ok(dialect(database)?.migration(&table(name)?)))
}

/// `(job id, statement, values)` for an enqueue request; `style` is DB-API's `paramstyle`.
#[pyfunction]
pub fn outbox_stage<'py>(
    py: Python<'py>,
    request: &[u8],
    database: &str,
    name: &str,
    style: &str,
) -> PyResult<(String, String, Bound<'py, PyTuple>)> {
    let (id, (sql, values)) = gate::attached(py, "outbox_stage", || {
        let style = match style {
            "qmark" => Style::Question,
            "numeric_dollar" => Style::Dollar,
            "format" | "pyformat" => Style::Percent,
            other => return Err(AbiError::invalid(format!("the driver's paramstyle '{other}' is not known"))),
        };
        let staged = stage(request, dialect(database)?, &table(name)?).map_err(|e| AbiError::invalid(e.to_string()))?;
        let statement = staged.statement(style);
        Ok((staged.job_id, statement))
    })?;
    let values = values.into_iter().map(|value| match value {
        Value::Text(text) => Some(text),
        Value::Integer(_) | Value::Null => None,
    });
    Ok((id, sql, PyTuple::new(py, values.collect::<Vec<_>>())?))
}

/// A running relay.
#[pyclass(frozen, module = "openjobspec._native")]
pub struct Relay {
    core: Mutex<Option<Core>>,
}

#[pymethods]
impl Relay {
    /// Reads PostgreSQL by URL, or any database through `host`, which answers `POST /outbox`.
    #[new]
    #[pyo3(signature = (connection, name, *, url=None, host=None, database="sqlite", poll_interval=None, batch_size=None, retention=None, migrate=false))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of a Python constructor")]
    fn new(
        py: Python<'_>,
        connection: &Connection,
        name: &str,
        url: Option<&str>,
        host: Option<&HostTransport>,
        database: &str,
        poll_interval: Option<f64>,
        batch_size: Option<usize>,
        retention: Option<f64>,
        migrate: bool,
    ) -> PyResult<Self> {
        let mut options = RelayOptions::default();
        options.poll_interval = length(py, "poll_interval", poll_interval)?.unwrap_or(options.poll_interval);
        options.retention = length(py, "retention", retention)?.unwrap_or(options.retention);
        options.batch_size = batch_size.unwrap_or(options.batch_size).clamp(1, 1000);
        let store = gate::attached(py, "Relay", || match (url, host) {
            (Some(url), None) => {
                let database = PostgresOutbox::new(url).map_err(|e| AbiError::invalid(e.to_string()))?;
                Ok(Store::new(table(name)?, database))
            }
            (None, Some(host)) => {
                let host = Arc::clone(&host.core) as Arc<dyn Transport>;
                Ok(Store::new(table(name)?, HostDatabase::new(dialect(database)?, host)))
            }
            _ => Err(AbiError::invalid("a relay needs a PostgreSQL URL or the host's database, one of them".to_owned())),
        })?;
        let core = Arc::clone(&connection.core);
        let relay = gate::wait(py, "Relay", async move {
            if migrate {
                store.migrate().await.map_err(|e| AbiError::System(e.to_string()))?;
            }
            let client = core.client().await?;
            Ok(Core::start(client, store, options))
        })?;
        Ok(Self { core: Mutex::new(Some(relay)) })
    }

    /// A transaction has committed.
    fn wake(&self, py: Python<'_>) -> PyResult<()> {
        gate::attached(py, "Relay.wake", || {
            if let Ok(core) = self.core.lock() {
                core.iter().for_each(Core::wake);
            }
            Ok(())
        })
    }

    /// What it has done so far; None when it is stopped.
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let status = self.core.lock().ok().and_then(|core| core.as_ref().map(Core::status));
        let Some(status) = status else { return Ok(None) };
        let dict = PyDict::new(py);
        dict.set_item("leading", status.leading)?;
        dict.set_item("sent", status.sent)?;
        dict.set_item("deduplicated", status.deduplicated)?;
        dict.set_item("refused", status.refused)?;
        dict.set_item("parked", status.parked)?;
        dict.set_item("held_up", status.held_up)?;
        dict.set_item("error", status.error)?;
        Ok(Some(dict))
    }

    /// Sends what is committed, for at most `grace` seconds, and ends. A second call does nothing.
    fn stop(&self, py: Python<'_>, grace: f64) -> PyResult<()> {
        let grace = length(py, "grace", Some(grace))?.unwrap_or(Duration::ZERO);
        let core = self.core.lock().map(|mut core| core.take()).unwrap_or_default();
        match core {
            Some(core) => gate::wait(py, "Relay.stop", async move {
                core.stop(grace).await;
                Ok(())
            }),
            None => Ok(()),
        }
    }

    /// Lets go of a parent's relay in a forked child, where its thread does not run.
    fn forget(&self) {
        if let Ok(mut core) = self.core.lock() {
            std::mem::forget(core.take());
        }
    }
}
