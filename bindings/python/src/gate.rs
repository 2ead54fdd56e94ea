//! The two ways into the core: detached for whatever may wait, attached for what is wait-free. Panics and errors of
//! both come out as exceptions of the package.
use std::future::Future;
use std::time::Duration;

use ojs_abi::error::AbiError;
use ojs_abi::guard::guard;
use ojs_abi::runtime;
use pyo3::prelude::*;

/// How often a waiting main thread looks for Ctrl-C.
const SIGNAL_SLICE: Duration = Duration::from_millis(100);

/// Runs `body` with the GIL released.
pub fn detached<T: Send>(py: Python<'_>, export: &'static str, body: impl FnOnce() -> Result<T, AbiError> + Send) -> PyResult<T> {
    py.detach(|| guard(export, body)).map_err(|error| exception(py, &error))
}

/// Runs `body`, which must be wait-free, with the GIL held.
pub fn attached<T>(py: Python<'_>, export: &'static str, body: impl FnOnce() -> Result<T, AbiError>) -> PyResult<T> {
    guard(export, body).map_err(|error| exception(py, &error))
}

/// Waits for `future` on the runtime, with the GIL released; Ctrl-C interrupts the wait.
pub fn wait<T, F>(py: Python<'_>, export: &'static str, future: F) -> PyResult<T>
where
    T: Send,
    F: Future<Output = Result<T, AbiError>> + Send,
{
    let mut future = Box::pin(future);
    loop {
        let future = &mut future;
        let slice = detached(py, export, || {
            let handle = runtime::handle()?;
            Ok(handle.block_on(async move { tokio::time::timeout(SIGNAL_SLICE, future).await }))
        })?;
        match slice {
            Ok(result) => return result.map_err(|error| exception(py, &error)),
            Err(_elapsed) => py.check_signals()?,
        }
    }
}

/// The exception of the package for an error of the core.
pub fn exception(py: Python<'_>, error: &AbiError) -> PyErr {
    let make = || -> PyResult<Bound<'_, PyAny>> {
        let errors = py.import("openjobspec.errors")?;
        errors.call_method1("from_native", (error.class() as i32, error.to_object().to_string()))
    };
    match make() {
        Ok(value) => PyErr::from_value(value),
        Err(failed) => failed,
    }
}
