//! The jobs that requests enqueue, and what tests say about them.
use serde_json::Value;

use crate::transport::Request;

/// The jobs that a request enqueues.
pub(super) fn jobs_of(request: &Request) -> Vec<Value> {
    let body = || request.body.as_deref().and_then(|body| serde_json::from_slice::<Value>(body).ok()).unwrap_or_default();
    match request.path.as_ref() {
        "/jobs" if request.method == http::Method::POST => vec![body()],
        "/jobs/batch" => body().get_mut("jobs").and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// The last of these jobs that has this type; panics when there is none.
#[track_caller]
#[expect(clippy::panic, reason = "an assertion for tests")]
pub(super) fn last_of(jobs: &[Value], job_type: &str) -> Value {
    match jobs.iter().rfind(|job| is(job, job_type)) {
        Some(job) => job.clone(),
        None => panic!("no '{job_type}' was enqueued; enqueued were {:?}", types(jobs)),
    }
}

/// Panics when one of these jobs has this type.
#[track_caller]
pub(super) fn none_of(jobs: &[Value], job_type: &str) {
    assert!(!jobs.iter().any(|job| is(job, job_type)), "a '{job_type}' was enqueued; enqueued were {:?}", types(jobs));
}

fn is(job: &Value, job_type: &str) -> bool {
    job.get("type").and_then(Value::as_str) == Some(job_type)
}

fn types(jobs: &[Value]) -> Vec<&str> {
    jobs.iter().filter_map(|job| job.get("type")?.as_str()).collect()
}
