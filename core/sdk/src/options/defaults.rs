//! Options that are set once for a type of jobs, for this process: a queue, a retry policy, a time-out.
//!
//! They fill in what an enqueue leaves out, wherever a job is prepared: enqueue, batches, bulk, outbox rows, steps of workflows and
//! schedules. An option that the enqueue names wins; `false` for `unique` is such an option. All clients of the process share them.
//!
//! ```
//! use ojs::{JobOptions, JobRequest, RetryPolicy, defaults};
//! defaults::set("email.send", JobOptions::new().queue("mail").retry(RetryPolicy::new().max_attempts(8)))?;
//! let recorder = std::sync::Arc::new(ojs::testing::Recorder::new());
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! recorder.client().enqueue("email.send", "a@example.com").await?;
//! let body = recorder.requests().pop().and_then(|request| request.body).unwrap_or_default();
//! assert!(String::from_utf8_lossy(&body).contains(r#""options":{"queue":"mail","retry":{"max_attempts":8}}"#));
//! # Ok::<(), ojs::Error>(()) })?;
//! # defaults::set("email.send", JobOptions::new())?;
//! # Ok::<(), ojs::Error>(())
//! ```
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use ojs_model::json::members;
use ojs_model::lazy::Lazy;

use crate::error::Error;
use crate::request::JobRequest;

/// Names and values as JSON text, checked.
type Options = Arc<[(String, String)]>;

/// It has no lock, because a process may fork while another of its threads holds it.
static TABLE: Lazy<ArcSwap<HashMap<String, Options>>> = Lazy::new(ArcSwap::default);
/// Most programs set none: then an enqueue does not look.
static ANY: AtomicBool = AtomicBool::new(false);

/// Options of jobs, apart from any job.
#[derive(Debug, Clone)]
#[must_use]
pub struct JobOptions {
    request: JobRequest,
}

impl JobOptions {
    /// None set.
    pub fn new() -> Self {
        Self { request: JobRequest::new("", ()) }
    }

    crate::request::job_option_setters!(request);
}

impl Default for JobOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Sets the options that jobs of this type have unless their enqueue says otherwise; in place of those set before. No options: none.
///
/// # Errors
/// [`Error::Validation`] for an empty type, or an option that is wrong: the message names it.
pub fn set(job_type: &str, options: JobOptions) -> Result<(), Error> {
    set_json(job_type, &options.request.options_json()?)
}

/// As [`set`], with the options as a JSON object, by their names on the wire: `{"queue": "mail", "retry": 8, "timeout": "5m"}`.
///
/// # Errors
/// As [`set`], and text that is no JSON object.
pub fn set_json(job_type: &str, options: &str) -> Result<(), Error> {
    if job_type.is_empty() {
        return Err(Error::validation("type", "must be the type of the jobs that get these options"));
    }
    let given = members(options).map_err(|_| Error::validation("options", "must be a JSON object of options"))?;
    let mut checked = Vec::with_capacity(given.len());
    for (name, value) in given.iter().filter(|(_, value)| *value != "null") {
        // Checked here, written out at each enqueue: a delay counts from then.
        super::written(name, value)?;
        checked.push((name.clone().into_owned(), (*value).to_owned()));
    }
    let checked: Options = checked.into();
    TABLE.rcu(|table| {
        let mut table = HashMap::clone(table);
        if checked.is_empty() {
            table.remove(job_type);
        } else {
            table.insert(job_type.to_owned(), Arc::clone(&checked));
        }
        table
    });
    if !checked.is_empty() {
        ANY.store(true, Ordering::Release);
    }
    Ok(())
}

/// A job, as JSON, in the form in which every client of this process sends it: its options checked, written out and in
/// order, with those that are set for its type. For hosts whose programs may send requests over a transport of their
/// own.
///
/// # Errors
/// [`Error::Validation`] that names the wrong option.
pub fn completed(job: &str) -> Result<String, Error> {
    crate::client::forms::job(job)
}

/// The options of this type; `None` when none are set.
pub(super) fn of(job_type: &str) -> Option<Options> {
    if !ANY.load(Ordering::Acquire) {
        return None;
    }
    TABLE.load().get(job_type).cloned()
}

/// The queue that is set for this type.
#[cfg(feature = "opentelemetry")]
pub(crate) fn queue(job_type: &str) -> Option<String> {
    let options = of(job_type)?;
    let (_, text) = options.iter().find(|(name, _)| name == "queue")?;
    serde_json::from_str(text).ok()
}

/// Whether some option is set for this type.
pub(crate) fn any(job_type: &str) -> bool {
    of(job_type).is_some()
}
