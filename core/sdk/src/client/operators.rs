//! Calls of operators: queues and their settings, purges, rate limits, figures of dead letters.
use serde::Serialize;
use serde_json::{Value, json};

use super::Client;
use super::path::{query, segment};
use crate::error::Error;
use crate::job::JobState;
use crate::transport::Method;

/// What becomes of the jobs of a queue that is deleted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DeleteQueue {
    /// A queue that holds any is not deleted.
    #[default]
    Reject,
    /// They are discarded.
    Discard,
    /// They go to another queue.
    MoveTo(String),
}

impl Client {
    /// Creates a queue with settings: `concurrency`, `max_size`, `rate_limit`, `retention` and so on.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// use ojs::DeleteQueue;
    /// use serde_json::json;
    /// client.create_queue("mail", &json!({"concurrency": 20})).await?;
    /// let queue = client.configure_queue("mail", &json!({"rate_limit": {"limit": 100, "period": "PT1M"}})).await?;
    /// assert_eq!(queue["config"]["concurrency"], 20);
    /// client.delete_queue("mail", DeleteQueue::Reject).await?;
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// 409 when it exists, 400 for a setting that cannot be used.
    pub async fn create_queue(&self, name: &str, config: &impl Serialize) -> Result<Value, Error> {
        let config = serde_json::to_value(config).map_err(|e| Error::json("config", e))?;
        self.ask(Method::POST, "/queues", Some(json!({"name": name, "config": config}))).await
    }

    /// A queue with its settings and counts.
    ///
    /// # Errors
    /// [`Error::is_not_found`], or any error of [`call`](Self::call).
    pub async fn get_queue(&self, name: &str) -> Result<Value, Error> {
        self.ask(Method::GET, &format!("/queues/{}", segment(name)), None).await
    }

    /// Sets what is named and leaves the rest; null gives a setting back to the template. `_default` is the template itself.
    ///
    /// # Errors
    /// 400 for a setting that cannot be used.
    pub async fn configure_queue(&self, name: &str, config: &impl Serialize) -> Result<Value, Error> {
        let config = serde_json::to_value(config).map_err(|e| Error::json("config", e))?;
        self.ask(Method::PUT, &format!("/queues/{}/config", segment(name)), Some(config)).await
    }

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

    /// Accepts no more jobs for a queue and hands out those that are there, until [`resume_queue`](Self::resume_queue).
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn drain_queue(&self, name: &str) -> Result<(), Error> {
        self.ask(Method::POST, &format!("/queues/{}/drain", segment(name)), Some(json!({}))).await.map(drop)
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

    /// Keys with limits and what is going on with them.
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn list_rate_limits(&self) -> Result<Vec<Value>, Error> {
        let answer = self.ask(Method::GET, "/rate-limits?limit=200", None).await?;
        Ok(answer.get("items").and_then(Value::as_array).cloned().unwrap_or_default())
    }

    /// A key with its limits, and how much of them is used.
    ///
    /// # Errors
    /// [`Error::is_not_found`] for a key that no job has.
    pub async fn get_rate_limit(&self, key: &str) -> Result<Value, Error> {
        self.ask(Method::GET, &format!("/rate-limits/{}", segment(key)), None).await
    }

    /// Gives a key other limits for a while: `concurrency`, `rate`, `throttle`, with `expires_at` (a time, or `+PT1H`). Without any
    /// limit the override ends.
    ///
    /// # Errors
    /// 400 for limits that cannot be read, or without `expires_at`.
    pub async fn override_rate_limit(&self, key: &str, limits: &impl Serialize) -> Result<Value, Error> {
        let limits = serde_json::to_value(limits).map_err(|e| Error::json("limits", e))?;
        self.ask(Method::PUT, &format!("/rate-limits/{}", segment(key)), Some(limits)).await
    }

    /// How many dead letters there are, by queue and type of error, and since when.
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn dead_letter_stats(&self) -> Result<Value, Error> {
        self.ask(Method::GET, "/dead-letter/stats", None).await
    }

    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Result<Value, Error> {
        let answer = self.call(method, path, body.map(|body| body.to_string().into())).await?;
        serde_json::from_slice(&answer).map_err(|e| Error::json("answer", e))
    }
}
