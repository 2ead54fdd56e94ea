//! The outbox: rows for the application's connection, and the relay.
use std::sync::Arc;
use std::time::Duration;

use ojs_abi::outbox::{self, Relay as Core, Row, Settings, Source};
use ojs_abi::{fakes, same_database};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::connection::{Connection, length};
use crate::gate;
use crate::transport::HostTransport;

/// The statements that make the tables, or add what they lack.
#[pyfunction]
pub fn outbox_migration(py: Python<'_>, database: &str, name: &str) -> PyResult<Vec<String>> {
    gate::attached(py, "outbox_migration", || outbox::migration(database, name))
}

/// Asks the application's PostgreSQL for what a server on it says as `backend.id`.
#[pyfunction]
pub const fn outbox_identity() -> &'static str {
    ojs::outbox::same_database::IDENTITY
}

/// Notifies the nodes of a server in the same database, after a commit.
#[pyfunction]
pub const fn outbox_notify() -> &'static str {
    ojs::outbox::same_database::NOTIFY
}

/// One step of finding out whether the server keeps its jobs in the application's database, from JSON to JSON.
#[pyfunction]
pub fn outbox_same_database(py: Python<'_>, event: &str) -> PyResult<String> {
    gate::attached(py, "outbox_same_database", || same_database::step(event))
}

/// The query that lists the jobs which are not sent yet.
#[pyfunction]
pub fn outbox_staged_query(py: Python<'_>, database: &str, name: &str, in_engine: bool) -> PyResult<String> {
    gate::attached(py, "outbox_staged_query", || outbox::staged_query(database, name, in_engine))
}

/// What a fake records of a request: a JSON array of jobs.
#[pyfunction]
pub fn fake_recorded(method: &str, path: &str, body: &[u8]) -> String {
    fakes::recorded(method, path, body)
}

/// Where in a JSON array of recorded jobs those stand that a test asks for.
#[pyfunction]
pub fn fake_matching(py: Python<'_>, jobs: &str, wanted: &str) -> PyResult<Vec<u32>> {
    gate::attached(py, "fake_matching", || fakes::matching(jobs, wanted))
}

type Staged<'py> = (String, String, Bound<'py, PyTuple>);

/// `(job id, statement, values)` for an enqueue request; `style` is DB-API's `paramstyle`.
#[pyfunction]
pub fn outbox_stage<'py>(py: Python<'py>, request: &[u8], database: &str, name: &str, style: &str) -> PyResult<Staged<'py>> {
    staged(py, gate::attached(py, "outbox_stage", || outbox::stage(request, database, name, style))?)
}

/// The same for the engine's own table, in the application's PostgreSQL.
#[pyfunction]
pub fn outbox_stage_in_engine<'py>(py: Python<'py>, request: &[u8], style: &str) -> PyResult<Staged<'py>> {
    staged(py, gate::attached(py, "outbox_stage_in_engine", || outbox::stage_in_engine(request, style))?)
}

fn staged(py: Python<'_>, row: Row) -> PyResult<Staged<'_>> {
    Ok((row.id, row.sql, PyTuple::new(py, row.params)?))
}

/// A running relay.
#[pyclass(frozen, module = "openjobspec._native")]
pub struct Relay {
    core: Core,
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
        let settings = Settings {
            poll_interval: length(py, "poll_interval", poll_interval)?,
            batch_size,
            retention: length(py, "retention", retention)?,
            migrate,
        };
        let (connection, name) = (Arc::clone(&connection.core), name.to_owned());
        let source = Source::of(url, database, host.map(|host| &host.core));
        let core = gate::wait(py, "Relay", async move { Core::start(connection, &name, source?, settings).await })?;
        Ok(Self { core })
    }

    /// A transaction has committed.
    fn wake(&self, py: Python<'_>) -> PyResult<()> {
        gate::attached(py, "Relay.wake", || {
            self.core.wake();
            Ok(())
        })
    }

    /// What it has done so far; None when it is stopped.
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(status) = self.core.status() else { return Ok(None) };
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
        gate::wait(py, "Relay.stop", async {
            self.core.stop(grace).await;
            Ok(())
        })
    }
}
