//! Operations on queues and limits whose arguments are types of their own.
use serde::Serialize;
use serde_json::{Value, json};

use super::Client;
use super::answer;
use super::path::{query, segment};
use crate::error::Error;
use crate::job::JobState;
use crate::transport::Method;

/// What happens to the jobs of a queue that is deleted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DeleteQueue {
    /// A queue that holds any is not deleted.
    #[default]
    Reject,
    /// They are discarded.
    Discard,
    /// They are moved to another queue.
    MoveTo(String),
}

impl Client {
    /// Deletes a queue.
    ///
    /// # Errors
    /// 409 when it holds jobs that may not be touched, [`Error::is_not_found`].
    pub async fn delete_queue(&self, name: &str, jobs: DeleteQueue) -> Result<Value, Error> {
        let (strategy, target) = match &jobs {
            DeleteQueue::Reject => ("reject", None),
            DeleteQueue::Discard => ("discard", None),
            DeleteQueue::MoveTo(target) => ("move", Some(target.as_str())),
        };
        let query = query(&[("strategy", Some(strategy)), ("target_queue", target)]);
        self.ask(Method::DELETE, &format!("/queues/{}{query}", segment(name)), None).await
    }

    /// Removes the jobs of a queue for ever that are in one of these states; returns how many. What waits is cancelled first, so
    /// workflows move on. `older_than` is a time, or an ISO 8601 duration before now (`P7D`). Active jobs are never removed.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// use ojs::JobState;
    /// # client.enqueue("report.build", ()).queue("reports").await?;
    /// assert_eq!(client.purge_queue("reports", &[JobState::Available], None).await?, 1);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// [`Error::is_not_found`] for a queue that was never used, or any error of [`call`](Self::call).
    pub async fn purge_queue(&self, name: &str, states: &[JobState], older_than: Option<&str>) -> Result<u64, Error> {
        /// Jobs per request: each takes a second or two at most, and a lost answer loses little.
        const SLICE: u64 = 10_000;
        let states: Vec<&str> = states.iter().map(JobState::as_str).collect();
        let mut purged = 0;
        loop {
            let body = json!({"states": states, "older_than": older_than, "confirm": true, "limit": SLICE});
            let answer = self.ask(Method::DELETE, &format!("/admin/queues/{}/jobs", segment(name)), Some(body)).await?;
            purged += answer.get("purged_count").and_then(Value::as_u64).unwrap_or(0);
            if answer.get("has_more").and_then(Value::as_bool) != Some(true) {
                return Ok(purged);
            }
        }
    }

    /// Gives a key other limits for a while: `concurrency`, `rate`, `throttle`, with `expires_at` (a time, or `+PT1H`). Without any
    /// limit the override ends.
    ///
    /// # Errors
    /// 400 for limits that cannot be read, or without `expires_at`.
    pub async fn override_rate_limit(&self, key: &str, limits: &impl Serialize) -> Result<Value, Error> {
        self.ask(Method::PUT, &format!("/rate-limits/{}", segment(key)), Some(answer::value("limits", limits)?)).await
    }

    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Result<Value, Error> {
        answer::object(&self.call(method, path, body.map(|body| body.to_string().into())).await?)
    }
}
