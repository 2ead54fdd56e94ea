//! Many jobs in one request, each with an outcome of its own.
use std::collections::BTreeMap;

use bytes::Bytes;
use ojs_model::{JobId, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::Client;
use super::enqueue::Middleware;
use super::identity::{self, Source};
use crate::error::Error;
use crate::job::{Job, JobState};
use crate::request::JobRequest;
use crate::transport::{Request, Response};

/// How a bulk operation is carried out. The default: each job on its own; a bulk enqueue has a key made for the call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BulkOptions {
    /// All jobs or none.
    pub atomic: bool,
    /// The server answers the same request with the same key the same way for a day. Take one of your own when your program may
    /// start over and send the request again.
    pub idempotency_key: Option<String>,
}

impl BulkOptions {
    /// The word of the wire.
    fn atomicity(&self) -> &'static str {
        if self.atomic { "atomic" } else { "partial" }
    }
}

/// Which jobs a filter means. The default names none, which the server refuses.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobFilter {
    /// Only this queue.
    pub queue: Option<String>,
    /// Only this job type; `email.*` is all that start so.
    pub job_type: Option<String>,
    /// Only these states; empty for those that the operation usually means.
    pub states: Vec<JobState>,
    /// Enqueued after.
    pub after: Option<Timestamp>,
    /// Enqueued before.
    pub before: Option<Timestamp>,
    /// Only this priority.
    pub priority: Option<i32>,
    /// Only jobs whose `meta` has these members.
    pub meta: Map<String, Value>,
}

impl JobFilter {
    pub(super) fn to_value(&self) -> Value {
        let states: Vec<&str> = self.states.iter().map(JobState::as_str).collect();
        let mut object = json!({
            "queue": self.queue, "type": self.job_type, "priority": self.priority,
            "enqueued_after": self.after.map(|at| at.to_string()), "enqueued_before": self.before.map(|at| at.to_string()),
        });
        if let Some(members) = object.as_object_mut() {
            members.retain(|_, value| !value.is_null());
            if !states.is_empty() {
                members.insert("state".into(), json!(states));
            }
            if !self.meta.is_empty() {
                members.insert("meta".into(), Value::Object(self.meta.clone()));
            }
        }
        object
    }
}

/// Which jobs to change: ids, or a [`JobFilter`].
#[derive(Debug, Clone, PartialEq)]
pub enum BulkTarget {
    /// These.
    Ids(Vec<String>),
    /// All that it finds.
    Filter(JobFilter),
}

impl From<JobFilter> for BulkTarget {
    fn from(filter: JobFilter) -> Self {
        Self::Filter(filter)
    }
}

impl<S: Into<String>> FromIterator<S> for BulkTarget {
    fn from_iter<I: IntoIterator<Item = S>>(ids: I) -> Self {
        Self::Ids(ids.into_iter().map(Into::into).collect())
    }
}

impl<S: Into<String>, const N: usize> From<[S; N]> for BulkTarget {
    fn from(ids: [S; N]) -> Self {
        ids.into_iter().collect()
    }
}

impl<S: Into<String>> From<Vec<S>> for BulkTarget {
    fn from(ids: Vec<S>) -> Self {
        ids.into_iter().collect()
    }
}

/// What came of a change of many jobs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BulkResult {
    /// Jobs that were named or found.
    pub matched: u64,
    /// Jobs that were changed.
    pub succeeded: u64,
    /// Jobs that were left as they are; their items say why.
    pub skipped: u64,
    /// In the order of the ids; of a filter the first 1,000.
    pub items: Vec<BulkItem>,
}

/// One job of a change of many.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BulkItem {
    /// Its id.
    pub job_id: String,
    /// Why it was left as it is.
    pub error: Option<Error>,
}

#[derive(Deserialize)]
struct Created<'a> {
    #[serde(borrow)]
    items: Vec<CreatedItem<'a>>,
}

#[derive(Deserialize)]
struct CreatedItem<'a> {
    #[serde(borrow)]
    job: Option<&'a RawValue>,
    error: Option<Value>,
}

impl Client {
    /// Enqueues many jobs in one request, each on its own: one that is refused leaves the others alone. The answer has a place for
    /// each, in order; `Ok(None)` is a job that a middleware has dropped. At most 10,000 at a time.
    ///
    /// For all or none see [`enqueue_batch`](Self::enqueue_batch).
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// use ojs::JobRequest;
    /// let answers = client.bulk_enqueue([JobRequest::new("email.send", "a@example.com"), JobRequest::new("NO SUCH TYPE", ())]).await?;
    /// assert!(answers[0].is_ok() && answers[1].is_err());
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call): then what was stored is not known, and the same call with the same
    /// [`idempotency_key`](BulkOptions::idempotency_key) finds out.
    pub async fn bulk_enqueue(
        &self,
        requests: impl IntoIterator<Item = JobRequest>,
    ) -> Result<Vec<Result<Option<Job>, Error>>, Error> {
        self.bulk_enqueue_with(requests, BulkOptions::default()).await
    }

    /// The same with options.
    ///
    /// # Errors
    /// As [`bulk_enqueue`](Self::bulk_enqueue); 409 when the key was used with another request.
    pub async fn bulk_enqueue_with(
        &self,
        requests: impl IntoIterator<Item = JobRequest>,
        options: BulkOptions,
    ) -> Result<Vec<Result<Option<Job>, Error>>, Error> {
        let failure = if options.atomic { Middleware::StopsAll } else { Middleware::StopsOne };
        let send = |client: Self, requests: Vec<JobRequest>| async move { client.send_bulk(&requests, options).await };
        self.through_layers(requests, failure, send).await
    }

    async fn send_bulk(&self, requests: &[JobRequest], options: BulkOptions) -> Result<Vec<Result<Job, Error>>, Error> {
        let text = JobRequest::list_json(requests)?;
        let atomicity = options.atomicity();
        let key = options.idempotency_key.unwrap_or_else(|| JobId::now_v7().to_string());
        let body = format!("{{\"jobs\":{text},\"atomicity\":\"{atomicity}\",\"idempotency_key\":{}}}", json!(key));
        created(&self.bulk_raw("/jobs/bulk", body.into()).await?, requests.len())
    }

    /// A bulk request given as JSON text, for `/jobs/bulk` and what is below; returns the answer. One of which nothing was carried out (422)
    /// is an answer, too: its items say why. Middleware does not run. Without an
    /// `idempotency_key` new jobs get ids as those of [`enqueue_batch_raw`](Self::enqueue_batch_raw) do. A request with an `idempotency_key` is sent again after unclear faults.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub async fn bulk_raw(&self, path: &str, body: Bytes) -> Result<Bytes, Error> {
        let members: BTreeMap<String, &RawValue> = serde_json::from_slice(&body).map_err(|e| Error::json("request", e))?;
        let has_key = members.contains_key("idempotency_key");
        // The key makes sending twice harmless; with ids of ours the request would be another one each time.
        let make_ids = !has_key && self.inner.transport.resends();
        let text = match members.get("jobs") {
            Some(jobs) => {
                let mut text = identity::batch(jobs.get().as_bytes(), make_ids, Source::New)?.text;
                text.pop();
                for (name, value) in members.iter().filter(|(name, _)| *name != "jobs") {
                    text.extend_from_slice(format!(",{}:{value}", json!(name)).as_bytes());
                }
                text.push(b'}');
                Bytes::from(text)
            }
            None => body.clone(),
        };
        let response = self.inner.transport.request(Request::post(path.to_owned(), text).with_resend(has_key)).await?;
        if has_items(&response) { Ok(response.body) } else { Err(Error::from_response(&response)) }
    }

    /// Cancels many jobs: by ids, whatever is not finished; by filter, what waits unless it names other states.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// use ojs::JobFilter;
    /// # client.enqueue("report.build", ()).queue("reports").await?;
    /// let done = client.bulk_cancel(JobFilter { queue: Some("reports".into()), ..JobFilter::default() }).await?;
    /// assert_eq!((done.matched, done.succeeded), (1, 1));
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call). A job that cannot be cancelled is no error: see [`BulkResult::items`].
    pub async fn bulk_cancel(&self, target: impl Into<BulkTarget>) -> Result<BulkResult, Error> {
        self.bulk_cancel_with(target, BulkOptions::default()).await
    }

    /// The same with options: with [`atomic`](BulkOptions::atomic) one job that cannot be cancelled keeps the others
    /// from it.
    ///
    /// # Errors
    /// As [`bulk_cancel`](Self::bulk_cancel).
    pub async fn bulk_cancel_with(&self, target: impl Into<BulkTarget>, options: BulkOptions) -> Result<BulkResult, Error> {
        self.change_many("cancel", "cancelled", target.into(), options).await
    }

    /// Runs many jobs again: discarded ones with fresh attempts, retryable ones at once instead of after their back-off.
    ///
    /// # Errors
    /// As [`bulk_cancel`](Self::bulk_cancel).
    pub async fn bulk_retry(&self, target: impl Into<BulkTarget>) -> Result<BulkResult, Error> {
        self.bulk_retry_with(target, BulkOptions::default()).await
    }

    /// The same with options.
    ///
    /// # Errors
    /// As [`bulk_cancel`](Self::bulk_cancel).
    pub async fn bulk_retry_with(&self, target: impl Into<BulkTarget>, options: BulkOptions) -> Result<BulkResult, Error> {
        self.change_many("retry", "retried", target.into(), options).await
    }

    /// Deletes many ended jobs for ever.
    ///
    /// # Errors
    /// As [`bulk_cancel`](Self::bulk_cancel).
    pub async fn bulk_delete(&self, target: impl Into<BulkTarget>) -> Result<BulkResult, Error> {
        self.bulk_delete_with(target, BulkOptions::default()).await
    }

    /// The same with options.
    ///
    /// # Errors
    /// As [`bulk_cancel`](Self::bulk_cancel).
    pub async fn bulk_delete_with(&self, target: impl Into<BulkTarget>, options: BulkOptions) -> Result<BulkResult, Error> {
        self.change_many("delete", "deleted", target.into(), options).await
    }

    async fn change_many(&self, verb: &str, done: &str, target: BulkTarget, options: BulkOptions) -> Result<BulkResult, Error> {
        let mut body = match target {
            BulkTarget::Ids(ids) if ids.is_empty() => return Ok(BulkResult::nothing()),
            BulkTarget::Ids(ids) => json!({"job_ids": ids}),
            BulkTarget::Filter(filter) => json!({"filter": filter.to_value()}),
        };
        if let Some(members) = body.as_object_mut() {
            members.insert("atomicity".to_owned(), options.atomicity().into());
            if let Some(key) = options.idempotency_key {
                members.insert("idempotency_key".to_owned(), key.into());
            }
        }
        BulkResult::read(&self.bulk_raw(&format!("/jobs/bulk/{verb}"), body.to_string().into()).await?, done)
    }
}

/// Partly done (207) and not done at all (422) are answers, too: each item says what became of it.
fn has_items(response: &Response) -> bool {
    let answer: Option<Value> =
        serde_json::from_slice(&response.body).ok().filter(|_| response.is_success() || response.status == 422);
    answer.is_some_and(|answer| answer.get("items").is_some())
}

fn created(body: &Bytes, sent: usize) -> Result<Vec<Result<Job, Error>>, Error> {
    let answer: Created<'_> = serde_json::from_slice(body).map_err(|e| Error::json("bulk answer", e))?;
    if answer.items.len() != sent {
        return Err(Error::json(
            "bulk answer",
            format!("it has {} items for the {sent} jobs that were sent", answer.items.len()),
        ));
    }
    let read = |item: &CreatedItem<'_>| match (item.job, &item.error) {
        (Some(job), None) => Job::parse(body.slice_ref(job.get().as_bytes())),
        (_, Some(error)) => Err(Error::from_item(&error.to_string())),
        (None, None) => Err(Error::json("bulk answer", "an item has neither job nor error")),
    };
    Ok(answer.items.iter().map(read).collect())
}

impl BulkResult {
    fn nothing() -> Self {
        Self { matched: 0, succeeded: 0, skipped: 0, items: Vec::new() }
    }

    fn read(body: &[u8], done: &str) -> Result<Self, Error> {
        let answer: Value = serde_json::from_slice(body).map_err(|e| Error::json("bulk answer", e))?;
        let number = |name: &str| answer.get(name).and_then(Value::as_u64).unwrap_or(0);
        let items = answer.get("items").and_then(Value::as_array).into_iter().flatten();
        let item = |item: &Value| BulkItem {
            job_id: item.get("job_id").and_then(Value::as_str).unwrap_or_default().to_owned(),
            error: item.get("error").map(|error| Error::from_item(&error.to_string())),
        };
        Ok(Self {
            matched: number("total_matched"),
            succeeded: number(done),
            skipped: number("skipped"),
            items: items.map(item).collect(),
        })
    }
}
