//! Answers to calls made from an event loop.
use std::sync::Arc;

use bytes::Bytes;
use ojs_abi::doorbell::SocketDoorbell;
use ojs_abi::error::AbiError;
use ojs_abi::replies::Replies as Core;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::gate;

/// What an answer is.
pub enum Answer {
    /// The body of a 2xx.
    Body(Bytes),
    /// A verdict of a heartbeat, see [`ojs_abi::worker::reason_number`].
    Verdict(Option<u8>),
    /// The sequence of a checkpoint, or why the job should stop.
    Kept((Option<u64>, Option<u8>)),
    /// Nothing to tell.
    Done,
}

type Result<T> = std::result::Result<T, AbiError>;

/// Answers of calls wait here for one event loop; `fd` turns readable when there are some.
#[pyclass(frozen, module = "openjobspec._native")]
pub struct Replies {
    pub core: Arc<Core<Result<Answer>>>,
    #[pyo3(get)]
    fd: i32,
}

#[pymethods]
impl Replies {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        let bell =
            SocketDoorbell::new().map_err(|e| gate::exception(py, &AbiError::System(format!("no file descriptor: {e}"))))?;
        let fd = bell.fd();
        Ok(Self { core: Core::new(Box::new(bell)), fd })
    }

    /// `[(ticket, answer or exception)]`.
    fn take(&self, py: Python<'_>) -> PyResult<Vec<(u64, Py<PyAny>)>> {
        let answers = gate::attached(py, "Replies.take", || self.core.take())?;
        answers.into_iter().map(|(ticket, answer)| Ok((ticket, object(py, answer)?))).collect()
    }
}

fn object(py: Python<'_>, answer: Result<Answer>) -> PyResult<Py<PyAny>> {
    Ok(match answer {
        Ok(Answer::Body(body)) => PyBytes::new(py, &body).into_any().unbind(),
        Ok(Answer::Verdict(verdict)) => verdict.into_pyobject(py)?.into_any().unbind(),
        Ok(Answer::Kept(kept)) => kept.into_pyobject(py)?.into_any().unbind(),
        Ok(Answer::Done) => py.None(),
        Err(error) => gate::exception(py, &error).into_value(py).into_any(),
    })
}
