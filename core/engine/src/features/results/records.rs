//! What came out of jobs: how it is read from a store, and how it is printed (protocol section 8.10).
use ojs_model::json::{push_bare, push_time};
use ojs_model::{JobId, Timestamp};

use crate::error::Result;
use crate::kernel::job::{History, JobRow, flag};
use crate::kernel::settings::DEFAULT_RESULT_TTL_MS;

/// Reading of many jobs at once.
pub trait ResultTables {
    /// Rows with errors and results, one per id, in order; `None` where there is no such job.
    fn outcomes(&mut self, ids: &[JobId]) -> Result<Vec<Option<(JobRow, History)>>>;
}

/// Appends the system's members about a stored result.
pub fn push_times(out: &mut String, row: &JobRow, history: &History) {
    if !row.has(flag::RESULT) {
        return;
    }
    push_time(out, "result_stored_at", Timestamp::from_millis(row.finished_at));
    if let Some(at) = expiry(row) {
        push_time(out, "result_expires_at", Timestamp::from_millis(at));
    }
    push_bare(out, "result_size_bytes", history.result.len());
}

/// When the result of a completed job is removed; `None` is never.
#[must_use]
pub fn expiry(row: &JobRow) -> Option<i64> {
    if row.has(flag::RESULT_TTL) {
        return (row.expires_at > 0).then_some(row.expires_at);
    }
    Some(row.finished_at.saturating_add(DEFAULT_RESULT_TTL_MS))
}

/// Whether the job must outlive the usual retention, because its own `result_ttl` keeps its result for longer.
pub fn holds_result(row: &JobRow, now: i64) -> bool {
    row.has(flag::RESULT) && row.has(flag::RESULT_TTL) && expiry(row).is_none_or(|at| at > now)
}
