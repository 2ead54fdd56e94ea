//! One log record per step of a job (extensions, section 13), off by default: target `ojs::jobs`.
//!
//! | level | of |
//! |---|---|
//! | error | discarded, timed out, stalled |
//! | warn | failed attempts, retries |
//! | debug | fetches, heartbeats, progress |
//! | info | everything else |
//!
//! Arguments, results and metadata are never logged. Records are written after the commit, so they are true.
use ojs_model::JobState;
use serde_json::Value;
use tracing::Level;

use crate::kernel::event::Event;

/// Target of the records, for filters such as `info,ojs::jobs=off`.
pub const TARGET: &str = "ojs::jobs";

/// Whether these records are written anywhere.
pub fn is_on() -> bool {
    tracing::enabled!(target: TARGET, Level::ERROR)
}

fn level_of(name: &str) -> Level {
    match name {
        "job.discarded" | "job.timeout" | "job.timed_out" | "job.stalled" | "job.dead_lettered" => Level::ERROR,
        "job.failed" | "job.retrying" | "job.retry_exhausted" => Level::WARN,
        "job.started" | "job.heartbeat" | "job.progress" | "worker.heartbeat" => Level::DEBUG,
        _ => Level::INFO,
    }
}

/// The macros of `tracing` need their level as a constant.
macro_rules! record {
    ($level:expr, $event:expr, $data:expr) => {
        tracing::event!(
            target: TARGET,
            $level,
            job_id = $event.origin.as_ref().map(|_| $event.subject.as_str()),
            job_type = $event.origin.as_ref().map(|origin| &*origin.job_type),
            queue = $event.origin.as_ref().map(|origin| &*origin.queue),
            subject = $event.origin.is_none().then_some($event.subject.as_str()),
            attempt = number($data, "attempt"),
            state = state_of($event),
            worker_id = text($data, "/worker_id"),
            workflow_id = text($data, "/workflow_id"),
            trace_id = text($data, "/trace_id"),
            error_type = text($data, "/error/code").or_else(|| text($data, "/error/type")),
            error_message = text($data, "/error/message"),
            duration_ms = number($data, "duration_ms"),
            queue_wait_ms = number($data, "queue_wait_ms"),
            "{}",
            $event.name
        )
    };
}

fn text<'a>(data: &'a Value, path: &str) -> Option<&'a str> {
    data.pointer(path).and_then(Value::as_str)
}

/// The state after the event. Of several events of one transition only the first carries it.
fn state_of(event: &Event) -> Option<&'static str> {
    let known = match event.name.as_str() {
        "job.discarded" | "job.dead_lettered" => Some(JobState::Discarded),
        "job.retrying" => Some(JobState::Retryable),
        _ => None,
    };
    event.change.map(|change| change.to).or(known).map(JobState::as_str)
}

fn number(data: &Value, name: &str) -> Option<u64> {
    data.get(name).and_then(Value::as_u64)
}

/// Writes the records of a commit.
pub fn write(events: &[Event]) {
    for event in events {
        let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
        match level_of(&event.name) {
            Level::ERROR => record!(Level::ERROR, event, &data),
            Level::WARN => record!(Level::WARN, event, &data),
            Level::DEBUG => record!(Level::DEBUG, event, &data),
            _ => record!(Level::INFO, event, &data),
        }
    }
}
