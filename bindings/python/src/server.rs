//! An OJS server in this process.
use std::sync::Mutex;

use ojs_abi::command;
use ojs_abi::error::AbiError;
use ojs_abi::server::{Admission, Server as Core};
use pyo3::prelude::*;

use crate::gate;

/// A running server.
#[pyclass(frozen, module = "openjobspec._native")]
pub struct Server {
    core: Mutex<Option<Core>>,
    #[pyo3(get)]
    url: String,
}

#[pymethods]
impl Server {
    /// Opens the store and listens on `ADDRESS:PORT`; port 0 takes a free one. With `keys`, a file, everybody is asked for one; without
    /// it and `insecure`, only loopback will do.
    #[new]
    #[pyo3(signature = (store, listen, test_mode=false, keys=None, insecure=true))]
    fn new(
        py: Python<'_>,
        store: String,
        listen: String,
        test_mode: bool,
        keys: Option<String>,
        insecure: bool,
    ) -> PyResult<Self> {
        let admission = Admission::of(keys, insecure);
        let core = gate::wait(py, "Server", async move { Core::start(&store, &listen, test_mode, admission).await })?;
        let url = core.url().to_owned();
        Ok(Self { core: Mutex::new(Some(core)), url })
    }

    /// Stops listening, answers requests under way, closes the store. A second call does nothing.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        let core = self.core.lock().map(|mut core| core.take()).unwrap_or_default();
        match core {
            Some(core) => gate::wait(py, "Server.stop", async move { core.stop().await.map_err(AbiError::System) }),
            None => Ok(()),
        }
    }
}

/// What the command line and the environment of `python -m openjobspec` say, both JSON.
#[pyfunction]
pub fn read_command(py: Python<'_>, invocation: &str) -> PyResult<String> {
    gate::attached(py, "read_command", || command::read(invocation))
}
