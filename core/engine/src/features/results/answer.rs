//! How the result of a job is printed (protocol section 8.10).
use ojs_model::json::{push_bare, push_member, push_text, push_time};
use ojs_model::{ErrorCode, JobState, OjsError, Timestamp};
use serde_json::json;

use crate::features::results::records::{expiry, push_times};
use crate::kernel::job::{History, JobRow, flag};
use crate::kernel::render;

/// Appends `{"job_id","state",…}` with the result, or the error that ended the job.
///
/// # Errors
/// 408 while the job goes on, 410 `result_pruned` when the result is no longer kept.
pub fn push_outcome(out: &mut String, row: &JobRow, history: &History, now: Timestamp) -> std::result::Result<(), OjsError> {
    if !row.state.is_terminal() {
        return Err(still_running(row));
    }
    if is_pruned(row, now) {
        let message = format!("The result of job '{}' is no longer kept.", row.id);
        return Err(OjsError::new(ErrorCode::ResultPruned, message).with_details(json!({"job_id": row.id, "state": row.state})));
    }
    out.push('{');
    push_text(out, "job_id", &row.id.to_string());
    push_text(out, "state", row.state.as_str());
    let ended = Timestamp::from_millis(row.finished_at);
    match row.state {
        JobState::Completed => {
            push_member(out, "result", if row.has(flag::RESULT) { &history.result } else { "null" });
            push_time(out, "completed_at", ended);
            push_times(out, row, history);
        }
        JobState::Cancelled => push_time(out, "cancelled_at", ended),
        _ => {
            render::failures(out, row, history);
            push_time(out, "discarded_at", ended);
        }
    }
    push_bare(out, "attempt", row.attempt);
    out.push('}');
    Ok(())
}

/// Removed, or about to be: the sweeper is not the one who decides.
fn is_pruned(row: &JobRow, now: Timestamp) -> bool {
    row.has(flag::PRUNED) || row.has(flag::RESULT) && expiry(row).is_some_and(|at| at <= now.as_millis())
}

fn still_running(row: &JobRow) -> OjsError {
    let message = format!("Job '{}' is {}; it has no result yet.", row.id, row.state);
    OjsError::new(ErrorCode::RequestTimeout, message)
        .with_details(json!({"job_id": row.id, "current_state": row.state, "reason": "not_finished"}))
        .with_hint("Ask again, or wait for it: ?wait=true&timeout=30.")
}
