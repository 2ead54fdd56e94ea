//! What needs no connection: the environment, options of types, versions, webhooks, fakes, log records.
use std::time::Duration;

use ojs_abi::{defaults, fakes, follower, logs, settings, versions, webhook};
use serde_json::json;

use crate::error::{CoreError, enter};

/// What the variables of the environment whose names begin with `OJS_` say: a JSON object of their texts becomes one of
/// settings.
///
/// # Errors
/// A variable whose text cannot be; the message names it.
#[uniffi::export]
pub fn environment(variables: &str) -> Result<String, CoreError> {
    enter("environment", || settings::environment(variables))
}

/// The next request of a reader of events: see `ojs_abi::follower`, both JSON.
///
/// # Errors
/// Text of another form.
#[uniffi::export]
pub fn follow_events(said: &str) -> Result<String, CoreError> {
    enter("follow_events", || follower::follow(said))
}

/// Sets what jobs of this type have unless their enqueue says otherwise: a JSON object of options by their names on the
/// wire.
///
/// # Errors
/// An empty type, or a wrong option, which the message names.
#[uniffi::export]
pub fn set_job_defaults(job_type: &str, options: &str) -> Result<(), CoreError> {
    enter("job_defaults_set", || defaults::set(job_type, options))
}

/// A job, as JSON, with the options of its type.
///
/// # Errors
/// A wrong option, which the message names.
#[uniffi::export]
pub fn completed_job(job: &str) -> Result<String, CoreError> {
    enter("job_completed", || defaults::completed(job))
}

/// The changes that bring the arguments of a job to the version of its handler, by their numbers: a JSON array such as
/// `[0,1]`.
///
/// # Errors
/// No change leads to a version that the handler is written for.
#[uniffi::export]
pub fn version_changes(job_type: &str, said: &str, job: &[u8]) -> Result<String, CoreError> {
    enter("version_changes", || versions::changes(job_type, said, job))
}

/// Checks a request of a webhook: `request` is a JSON object with `headers`, `secrets`, and if wanted `tolerance` and
/// `now`, in seconds.
///
/// # Errors
/// Why it is not to be trusted.
#[uniffi::export]
pub fn verify_webhook(body: &[u8], request: &str) -> Result<(), CoreError> {
    enter("webhook_verify", || webhook::verify(body, request))
}

/// What a fake records of a request: a JSON array of the jobs that it enqueues.
#[uniffi::export]
pub fn fake_recorded(method: &str, path: &str, body: &[u8]) -> String {
    fakes::recorded(method, path, body)
}

/// Where in a JSON array of recorded jobs those stand that are `wanted`.
///
/// # Errors
/// An option that does not exist, or text of another form.
#[uniffi::export]
pub fn fake_matching(jobs: &str, wanted: &str) -> Result<Vec<u32>, CoreError> {
    enter("fake_matching", || fakes::matching(jobs, wanted))
}

/// Collects log records up to a level: 0 off, 1 error, 2 warn, 3 info, 4 debug, 5 trace. Off until it is called.
#[uniffi::export]
pub fn logs_level(level: u8) {
    logs::install();
    logs::set_level(level);
}

/// Waits up to `wait_ms` for records and takes at most `max`: `{"lost": 0, "records": [{"level", "target", "text"}]}`.
#[uniffi::export]
pub fn logs_pull(max: u32, wait_ms: u64) -> String {
    let (records, lost) = logs::pull(usize::try_from(max).unwrap_or(usize::MAX), Duration::from_millis(wait_ms));
    let records: Vec<_> = records.into_iter().map(|r| json!({"level": r.level, "target": r.target, "text": r.text})).collect();
    json!({"lost": lost, "records": records}).to_string()
}
