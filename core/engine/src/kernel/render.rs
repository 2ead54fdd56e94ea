//! Prints jobs: the fixed text of the body, then the members that the server manages. Nothing is parsed.

use ojs_model::json::{push_member, push_text, push_time, push_whole};
use ojs_model::lazy::Lazy;
use ojs_model::{JobState, RetryPolicy, Timestamp};

use crate::kernel::job::{History, JobRow, JobView, flag};

static DEFAULT_RETRY: Lazy<String> = Lazy::new(|| RetryPolicy::default().to_value().to_string());

/// Appends `[item,item,…]`, each item written by `write`.
pub fn list<T>(out: &mut String, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut String, T)) {
    out.push('[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}

/// Appends a job as a JSON object.
pub fn job(out: &mut String, view: &JobView) {
    object(out, view, |_| {});
}

/// Appends a job with its lease token, as a fetch hands it out.
pub fn leased(out: &mut String, view: &JobView) {
    object(out, view, |out| {
        push_whole(out, "lease_token", view.row.lease);
        if !view.delivered.is_empty() {
            out.push(',');
            out.push_str(&view.delivered);
        }
    });
}

/// Appends a job with further members written by `more`.
pub fn object(out: &mut String, view: &JobView, more: impl FnOnce(&mut String)) {
    let row = &view.row;
    out.push('{');
    out.push_str(&view.body.text);
    push_text(out, "queue", &view.queue);
    push_whole(out, "priority", row.priority);
    push_text(out, "state", row.state.as_str());
    push_whole(out, "attempt", row.attempt);
    push_whole(out, "max_attempts", row.max_attempts);
    if view.body.retry.is_none() {
        push_member(out, "retry", &DEFAULT_RETRY);
    }
    let times = [
        ("created_at", row.created_at),
        ("enqueued_at", row.enqueued_at),
        ("activated_at", row.activated_at),
        ("started_at", row.started_at),
    ];
    for (name, at) in times {
        time(out, name, at);
    }
    ended(out, view);
    if row.retry_delay > 0 && matches!(row.state, JobState::Retryable | JobState::Active | JobState::Available) {
        push_whole(out, "retry_delay_ms", row.retry_delay);
    }
    if row.state == JobState::Scheduled && !view.body.text.contains("\"scheduled_at\":") {
        // Not the client's choice: its key was full, or it was given back with a delay.
        time(out, "scheduled_at", row.sort_key);
    }
    if row.state == JobState::Retryable {
        time(out, "next_attempt_at", row.sort_key);
        time(out, "next_retry_at", row.sort_key);
    }
    if let (JobState::Active, Some(worker)) = (row.state, &view.worker) {
        push_text(out, "worker_id", worker);
    }
    failures(out, row, &view.history);
    if row.has(flag::RESULT) {
        push_member(out, "result", &view.history.result);
        crate::features::results::records::push_times(out, row, &view.history);
    }
    if let Some(place) = &view.train {
        crate::features::trains::answer::push_place(out, place);
    }
    more(out);
    out.push('}');
}

/// The times of a terminal state (protocol section 10, row 15).
fn ended(out: &mut String, view: &JobView) {
    let at = view.row.finished_at;
    match view.row.state {
        JobState::Completed => time(out, "completed_at", at),
        JobState::Cancelled => time(out, "cancelled_at", at),
        JobState::Discarded => {
            if !view.row.has(flag::EXPIRED) {
                time(out, "completed_at", at);
            }
            time(out, "discarded_at", at);
        }
        _ => {}
    }
}

/// The latest error while it is the job's current one, and the history.
pub fn failures(out: &mut String, row: &JobRow, history: &History) {
    if !row.has(flag::ERRORS) || history.errors.is_empty() {
        return;
    }
    if row.has(flag::ERROR) {
        let entries: Vec<&serde_json::value::RawValue> = serde_json::from_str(&history.errors).unwrap_or_default();
        if let Some(last) = entries.last() {
            push_member(out, "error", last.get());
        }
    }
    push_member(out, "errors", &history.errors);
}

fn time(out: &mut String, name: &str, at: i64) {
    if at > 0 {
        push_time(out, name, Timestamp::from_millis(at));
    }
}
