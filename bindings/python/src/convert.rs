//! Outcomes from Python.
use std::time::Duration;

use bytes::Bytes;
use ojs::dispatch::{HandlerFailure, Outcome};
use ojs_abi::token::JobToken;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// `(token, kind, payload)`: 0 completed (bytes or None), 1 failed (tuple), 2 released (None), 3 snoozed (seconds).
pub fn outcome(done: &Bound<'_, PyTuple>) -> PyResult<(JobToken, Outcome)> {
    let (token, kind): (u64, u8) = (done.get_item(0)?.extract()?, done.get_item(1)?.extract()?);
    let payload = done.get_item(2)?;
    let outcome = match kind {
        0 if payload.is_none() => Outcome::Completed { result: None },
        0 => Outcome::Completed { result: Some(Bytes::copy_from_slice(payload.extract()?)) },
        1 => Outcome::Failed(failure(&payload)?),
        2 => Outcome::Released,
        3 => Outcome::Snoozed(Duration::try_from_secs_f64(payload.extract()?).map_err(|e| PyValueError::new_err(e.to_string()))?),
        other => return Err(PyValueError::new_err(format!("unknown outcome {other}"))),
    };
    Ok((JobToken::from_bits(token), outcome))
}

/// `(code, kind, message, retryable, details as JSON or None, backtrace)`.
fn failure(payload: &Bound<'_, PyAny>) -> PyResult<HandlerFailure> {
    type Fields = (String, String, String, bool, Option<Vec<u8>>, Vec<String>);
    let (code, kind, message, retryable, details, backtrace): Fields = payload.extract()?;
    let details = details.and_then(|json| serde_json::from_slice(&json).ok());
    Ok(HandlerFailure { code, kind, message, retryable, details, backtrace })
}
