//! Transports written in Python.
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ojs_abi::host_transport::HostTransport as Core;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::gate;

/// Requests of the core wait here for a Python thread.
#[pyclass(frozen, module = "openjobspec._native")]
pub struct HostTransport {
    pub core: Arc<Core>,
}

type PyRequest<'py> = (u64, String, String, Option<Bound<'py, PyBytes>>);

#[pymethods]
impl HostTransport {
    #[new]
    fn new() -> Self {
        Self { core: Core::new() }
    }

    /// `(ticket, method, path, body)`, or None when nothing came in time; ClosedError at the end.
    fn pull<'py>(&self, py: Python<'py>, wait_ms: u64) -> PyResult<Option<PyRequest<'py>>> {
        let request = gate::detached(py, "HostTransport.pull", || self.core.pull(Duration::from_millis(wait_ms)))?;
        Ok(request.map(|r| (r.ticket, r.method, r.path, r.body.map(|body| PyBytes::new(py, &body)))))
    }

    /// Answers a request.
    fn reply(&self, ticket: u64, status: u16, body: &[u8]) {
        self.core.reply(ticket, status, Bytes::copy_from_slice(body));
    }

    /// Says that there is no answer.
    fn fail(&self, ticket: u64, message: String) {
        self.core.fail(ticket, message);
    }

    /// Ends it.
    fn close(&self) {
        self.core.shut();
    }
}
