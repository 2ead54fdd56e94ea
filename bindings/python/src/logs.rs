//! Log records for Python's `logging`.
use std::time::Duration;

use ojs_abi::logs;
use pyo3::prelude::*;

use crate::gate;

/// `(level, target, text)`.
type PyRecord = (u8, &'static str, String);

/// Waits for records; returns them, and how many were lost.
#[pyfunction]
pub fn pull_logs(py: Python<'_>, max: usize, wait_ms: u64) -> PyResult<(Vec<PyRecord>, u64)> {
    let (records, lost) = gate::detached(py, "pull_logs", || Ok(logs::pull(max, Duration::from_millis(wait_ms))))?;
    Ok((records.into_iter().map(|r| (r.level, r.target, r.text)).collect(), lost))
}

/// Starts collecting, up to a level: 0 off, 1 error … 5 trace.
#[pyfunction]
pub fn set_log_level(level: u8) {
    logs::install();
    logs::set_level(level);
}
