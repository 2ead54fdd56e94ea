//! Texts that policy defines: times, durations, errors.
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use ojs::transport::Response;
use ojs_abi::error::AbiError;
use ojs_model::duration::IsoDuration;
use ojs_model::{Timestamp, duration, spelling};
use pyo3::prelude::*;

use crate::gate;

fn seconds(py: Python<'_>, seconds: f64) -> PyResult<Duration> {
    gate::attached(py, "duration", || {
        Duration::try_from_secs_f64(seconds)
            .map_err(|_| AbiError::invalid(format!("{seconds} is not a length of time in seconds")))
    })
}

/// ISO 8601 text of a length in seconds.
#[pyfunction]
pub fn duration_text(py: Python<'_>, length: f64) -> PyResult<String> {
    // Milliseconds are what servers keep; float noise below them is not wanted in the text.
    let length = seconds(py, length)?.as_secs_f64() * 1000.0;
    Ok(duration::format(Duration::from_secs_f64(length.round() / 1000.0)))
}

/// Seconds of a duration: ISO 8601, or the short forms `500ms`, `1s`, `5m`, `1h`.
#[pyfunction]
pub fn duration_seconds(py: Python<'_>, text: &str) -> PyResult<f64> {
    gate::attached(py, "duration_seconds", || {
        let parsed = IsoDuration::parse(text).map_err(|e| AbiError::invalid(format!("'{text}' is {e}")))?;
        Ok(parsed.value().as_secs_f64())
    })
}

/// Sets the options that jobs of a type have unless their enqueue says otherwise, as a JSON object by their names on the wire.
#[pyfunction]
pub fn set_job_defaults(py: Python<'_>, job_type: &str, options: &str) -> PyResult<()> {
    gate::attached(py, "set_job_defaults", || ojs_abi::defaults::set(job_type, options))
}

/// A job, as JSON, with the options of its type.
#[pyfunction]
pub fn completed_job(py: Python<'_>, job: &str) -> PyResult<String> {
    gate::attached(py, "completed_job", || ojs_abi::defaults::completed(job))
}

/// The numbers of the changes that bring the arguments of a job to the version of its handler, as JSON.
#[pyfunction]
pub fn version_changes(py: Python<'_>, job_type: &str, said: &str, job: &[u8]) -> PyResult<String> {
    gate::attached(py, "version_changes", || ojs_abi::versions::changes(job_type, said, job))
}

/// RFC 3339 text of the time `delay` seconds from now. A negative one is refused.
#[pyfunction]
pub fn time_after(py: Python<'_>, delay: f64) -> PyResult<String> {
    let delay = seconds(py, delay)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
    Ok(Timestamp::from_millis(now).plus(delay).to_string())
}

/// Checks a request of a webhook; `request` is the JSON that `ojs_abi::webhook` reads.
#[pyfunction]
pub fn verify_webhook(py: Python<'_>, body: &[u8], request: &str) -> PyResult<()> {
    gate::attached(py, "verify_webhook", || ojs_abi::webhook::verify(body, request))
}

/// What is said of a name that is none of `names`, with the one that was probably meant.
#[pyfunction]
pub fn unknown_name(kind: &str, name: &str, place: &str, names: Vec<String>) -> String {
    spelling::unknown(kind, name, place, &names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The exception for the error of one item of an answer about many.
#[pyfunction]
pub fn item_error(py: Python<'_>, error: &str) -> Py<PyAny> {
    gate::exception(py, &AbiError::Sdk(ojs::Error::from_item(error))).into_value(py).into_any()
}

/// The exception for an answer that is not 2xx.
#[pyfunction]
pub fn error_of(py: Python<'_>, status: u16, body: &[u8]) -> Py<PyAny> {
    let error = ojs::Error::from_response(&Response::new(status, Bytes::copy_from_slice(body)));
    gate::exception(py, &AbiError::Sdk(error)).into_value(py).into_any()
}
