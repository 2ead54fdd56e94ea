//! Results of jobs, read or waited for; operations on many dead letters.
use std::time::Duration;

use bytes::Bytes;
use ojs_model::{ErrorCode, OjsError, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Client;
use super::answer;
use super::path::{query, segment};
use crate::error::Error;
use crate::job::{JobFailure, JobState};
use crate::json::Json;
use crate::transport::{Method, Request};

/// Longest wait asked for in one request: below the idle time-outs of common proxies.
const WAIT_PER_REQUEST: Duration = Duration::from_secs(30);

/// How soon a server without a route for results is asked for the job again; the pause doubles …
const FIRST_LOOK: Duration = Duration::from_millis(50);
/// … up to this.
const LAST_LOOK: Duration = Duration::from_secs(2);

/// How a job ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JobResult {
    /// Id of the job.
    pub job_id: String,
    /// Completed, discarded or cancelled.
    pub state: JobState,
    /// The value that the handler returned; `None` when it returned nothing or no result is kept (`result_ttl` of 0).
    pub result: Option<Json>,
    /// The failure that ended it.
    pub error: Option<JobFailure>,
    /// When the result was stored.
    pub stored_at: Option<Timestamp>,
    /// When the result is removed; `None` is never, or nothing is stored.
    pub expires_at: Option<Timestamp>,
}

#[derive(Deserialize)]
struct Wire<'a> {
    job_id: String,
    state: String,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<JobFailure>,
    result_stored_at: Option<String>,
    result_expires_at: Option<String>,
}

impl JobResult {
    fn read(text: &[u8]) -> Result<Self, Error> {
        let wire: Wire<'_> = serde_json::from_slice(text).map_err(|e| Error::json("result", e))?;
        let time = |text: Option<String>| text.and_then(|text| Timestamp::parse(&text).ok());
        let result = wire.result.filter(|raw| raw.get() != "null");
        Ok(Self {
            job_id: wire.job_id,
            state: JobState::from(wire.state.as_str()),
            result: result.map(|raw| Json::from_text(raw.get().to_owned())).transpose()?,
            error: wire.error,
            stored_at: time(wire.result_stored_at),
            expires_at: time(wire.result_expires_at),
        })
    }
}

/// Selects dead letters. The default is all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeadLetterFilter {
    /// Only this queue.
    pub queue: Option<String>,
    /// Only this job type.
    pub job_type: Option<String>,
    /// Only this type of the latest error.
    pub error_type: Option<String>,
    /// Discarded at or after.
    pub since: Option<Timestamp>,
    /// Discarded before.
    pub until: Option<Timestamp>,
}

impl Client {
    /// How a job ended.
    ///
    /// # Errors
    /// Status 408 while it has not ended, 410 `result_pruned` when its result is no longer kept, [`Error::is_not_found`].
    pub async fn result(&self, id: &str) -> Result<JobResult, Error> {
        // 408 is an answer here: sending again would not help.
        let request = Request::new(Method::GET, format!("/jobs/{}/result", segment(id))).with_resend(false);
        JobResult::read(&self.send(request).await?.body)
    }

    /// Waits until the job has ended, for at most `patience`.
    ///
    /// # Errors
    /// As [`result`](Self::result); status 408 when the time is over first.
    pub async fn wait_for_result(&self, id: &str, patience: Duration) -> Result<JobResult, Error> {
        let deadline = tokio::time::Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            let wait = left.min(WAIT_PER_REQUEST);
            let path = format!("/jobs/{}/result?wait=true&timeout={}", segment(id), wait.as_secs());
            match self.call_waiting(Method::GET, &path, None, wait).await {
                Ok(body) => return JobResult::read(&body),
                // A time of less than a second is not worth another request.
                Err(error) if error.status() == Some(408) && left > wait.saturating_add(Duration::from_secs(1)) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The result as the job itself has it, for servers without a route for results: asked for until the job has ended, at most so long.
    /// `refusal` is what the server said of the route.
    pub(super) async fn result_of_job(&self, id: &str, wait: Duration, refusal: Error) -> Result<Bytes, Error> {
        let deadline = tokio::time::Instant::now() + wait;
        let mut pause = FIRST_LOOK;
        loop {
            // A job that is not there either is what the first refusal was about.
            let Ok(body) = self.call(Method::GET, &format!("/jobs/{id}"), None).await else { return Err(refusal) };
            let job = crate::job::from_answer(&body)?;
            if job.state.is_terminal() {
                return Ok(as_result(&job).into());
            }
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            if left.is_zero() {
                let message = format!("The job is {} and has not ended in time.", job.state.as_str());
                let mut error = OjsError::new(ErrorCode::RequestTimeout, message);
                error.status = 408;
                return Err(error.into());
            }
            tokio::time::sleep(pause.min(left)).await;
            pause = (pause * 2).min(LAST_LOOK);
        }
    }

    /// How jobs ended, in the order of the ids; `None` for those that are unknown, not done, or no longer kept.
    ///
    /// # Errors
    /// 413 for more than 1,000 ids, or any error of [`call`](Self::call).
    pub async fn results(&self, ids: &[&str]) -> Result<Vec<Option<JobResult>>, Error> {
        #[derive(Deserialize)]
        struct Answer<'a> {
            #[serde(borrow)]
            results: Vec<&'a RawValue>,
        }
        let body = self.call(Method::POST, "/jobs/results", Some(text(&json!({"ids": ids})))).await?;
        let answer: Answer<'_> = serde_json::from_slice(&body).map_err(|e| Error::json("results", e))?;
        let found = answer.results.iter().map(|raw| raw.get());
        found.map(|raw| if raw == "null" { Ok(None) } else { JobResult::read(raw.as_bytes()).map(Some) }).collect()
    }

    /// Runs a dead letter again with other values: any of `queue`, `priority`, `args`, `meta` (added to what is there) and `retry`
    /// (field by field).
    ///
    /// # Errors
    /// As [`retry_dead_letter`](Self::retry_dead_letter), and those of an enqueue for the values.
    pub async fn retry_dead_letter_with(&self, id: &str, change: &Value) -> Result<crate::Job, Error> {
        let body = text(&json!({"override": change}));
        let path = format!("/dead-letter/{}/retry", segment(id));
        crate::job::from_answer(&self.call(Method::POST, &path, Some(body)).await?)
    }

    /// Runs all dead letters again that a filter finds; returns how many.
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn retry_dead_letters(&self, filter: &DeadLetterFilter) -> Result<u64, Error> {
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        let mut wanted = json!({
            "queue": filter.queue, "type": filter.job_type, "error_type": filter.error_type,
            "since": time(filter.since), "until": time(filter.until),
        });
        if let Some(members) = wanted.as_object_mut() {
            members.retain(|_, value| !value.is_null());
        }
        let body = text(&json!({"filter": wanted, "confirm": true}));
        answer::count(&self.call(Method::POST, "/dead-letter/retry", Some(body)).await?, "retried")
    }

    /// Deletes all dead letters for ever that a filter finds; returns how many.
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn delete_dead_letters(&self, filter: &DeadLetterFilter) -> Result<u64, Error> {
        let (since, until) = (filter.since.map(|at| at.to_string()), filter.until.map(|at| at.to_string()));
        let query = query(&[
            ("confirm", Some("true")),
            ("queue", filter.queue.as_deref()),
            ("type", filter.job_type.as_deref()),
            ("error_type", filter.error_type.as_deref()),
            ("since", since.as_deref()),
            ("until", until.as_deref()),
        ]);
        answer::count(&self.call(Method::DELETE, &format!("/dead-letter{query}"), None).await?, "deleted")
    }
}

/// The job that a path of results is about, where the refusal may mean that the server has no such route.
pub(super) fn without_route<'a>(path: &'a str, refusal: &Error) -> Option<&'a str> {
    let (id, _) = path.strip_prefix("/jobs/")?.split_once("/result?")?;
    matches!(refusal.status(), Some(404 | 405 | 501)).then_some(id)
}

/// The members of a job that make its result.
fn as_result(job: &crate::Job) -> String {
    let mut out = String::from("{");
    for (name, member) in
        [("job_id", "id"), ("state", "state"), ("result", "result"), ("error", "error"), ("result_stored_at", "completed_at")]
    {
        if let Some(value) = job.attribute(member).filter(|value| !value.is_null()) {
            ojs_model::json::push_member(&mut out, name, value.as_str());
        }
    }
    out.push('}');
    out
}

fn text(value: &Value) -> Bytes {
    value.to_string().into()
}
