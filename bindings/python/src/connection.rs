//! Calls to a server or embedded engine, blocking or from an event loop.
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ojs_abi::connection::Connection as Core;
use ojs_abi::error::AbiError;
use ojs_abi::settings::{self, ClientSettings};
use ojs_abi::{follower, outbox, runtime};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::gate;
use crate::replies::{Answer, Replies};
use crate::transport::HostTransport;

/// A connection, opened by its first call.
#[pyclass(frozen, module = "openjobspec._native")]
pub struct Connection {
    pub core: Arc<Core>,
}

#[pymethods]
impl Connection {
    /// The settings are JSON.
    #[new]
    #[pyo3(signature = (url, settings="{}"))]
    fn new(py: Python<'_>, url: &str, settings: &str) -> PyResult<Self> {
        let core = gate::attached(py, "Connection", || Core::to_url(url, ClientSettings::read(settings)?.options()?))?;
        Ok(Self { core })
    }

    /// A connection over a transport written in Python.
    #[staticmethod]
    fn over(transport: &HostTransport) -> Self {
        Self { core: Core::over(transport.core.clone()) }
    }

    /// Requests of a tenant over this connection.
    fn of_tenant(&self, py: Python<'_>, tenant: &str) -> PyResult<Self> {
        Ok(Self { core: gate::attached(py, "Connection.of_tenant", || self.core.of_tenant(tenant))? })
    }

    /// An enqueue request as a row of an outbox shall hold it: encrypted where this connection does so.
    fn encrypted<'py>(&self, py: Python<'py>, request: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let text = gate::attached(py, "Connection.encrypted", || outbox::encrypted(&self.core, request))?;
        Ok(PyBytes::new(py, &text))
    }

    /// A delivered job with its arguments in the clear, as a worker's handler gets it.
    fn decrypted<'py>(&self, py: Python<'py>, job: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let text = gate::attached(py, "Connection.decrypted", || self.core.decrypted(job))?;
        Ok(PyBytes::new(py, &text))
    }

    /// One call; returns the body of a 2xx answer.
    ///
    /// With `wait` the server may hold its answer back for so many seconds, and the call is sent once.
    #[pyo3(signature = (method, path, body=None, wait=None))]
    fn call<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        path: &str,
        body: Option<&[u8]>,
        wait: Option<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let body = body.map(Bytes::copy_from_slice);
        let wait = length(py, "wait", wait)?;
        let answer = gate::wait(py, "Connection.call", send(&self.core, method, path, body, wait))?;
        Ok(PyBytes::new(py, &answer))
    }

    /// One call from an event loop; the answer goes to `replies` under `ticket`.
    #[pyo3(signature = (replies, ticket, method, path, body=None, wait=None))]
    #[expect(clippy::too_many_arguments, reason = "those of `call`, and where the answer goes")]
    fn submit(
        &self,
        py: Python<'_>,
        replies: &Replies,
        ticket: u64,
        method: String,
        path: String,
        body: Option<&[u8]>,
        wait: Option<f64>,
    ) -> PyResult<()> {
        let body = body.map(Bytes::copy_from_slice);
        let wait = length(py, "wait", wait)?;
        let core = Arc::clone(&self.core);
        let replies = Arc::clone(&replies.core);
        gate::attached(py, "Connection.submit", || {
            runtime::handle()?
                .spawn(async move { replies.put(ticket, send(&core, &method, &path, body, wait).await.map(Answer::Body)) });
            Ok(())
        })
    }

    /// Closes, waiting for an embedded engine to flush.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let core = Arc::clone(&self.core);
        gate::wait(py, "Connection.close", async move {
            core.close().await;
            Ok(())
        })
    }

    /// Closes, from an event loop.
    fn submit_close(&self, py: Python<'_>, replies: &Replies, ticket: u64) -> PyResult<()> {
        let core = Arc::clone(&self.core);
        let replies = Arc::clone(&replies.core);
        gate::attached(py, "Connection.submit_close", || {
            runtime::handle()?.spawn(async move {
                core.close().await;
                replies.put(ticket, Ok(Answer::Done));
            });
            Ok(())
        })
    }

    #[getter]
    fn closed(&self) -> bool {
        self.core.is_closed()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Python drops with the GIL held.
        Core::let_go("Connection.drop", Arc::clone(&self.core));
    }
}

async fn send(core: &Core, method: &str, path: &str, body: Option<Bytes>, wait: Option<Duration>) -> Result<Bytes, AbiError> {
    match wait {
        Some(wait) => core.call_waiting(method, path, body, wait).await,
        None => core.call(method, path, body).await,
    }
}

/// A time-out in seconds.
pub fn length(py: Python<'_>, name: &str, seconds: Option<f64>) -> PyResult<Option<Duration>> {
    settings::length(name, seconds).map_err(|error| gate::exception(py, &error))
}

/// What the variables of the environment say, both JSON.
#[pyfunction]
pub fn environment(py: Python<'_>, variables: &str) -> PyResult<String> {
    gate::attached(py, "environment", || settings::environment(variables))
}

/// The next request of a reader of events, both JSON.
#[pyfunction]
pub fn follow_events(py: Python<'_>, said: &str) -> PyResult<String> {
    gate::attached(py, "follow_events", || follower::follow(said))
}
