//! Operations that are more than a request and its answer: forms of several servers, short names.
use bytes::Bytes;
use serde_json::Value;

use super::Client;
use super::answer;
use super::forms;
use super::path::{query, segment};
use crate::cron::CronJob;
use crate::error::Error;
use crate::job::{self, Job};
use crate::queue::{Page, Queue, QueueStats};
use crate::transport::{MANIFEST_PATH, Method};
use crate::workflow::{Workflow, WorkflowDefinition};

impl Client {
    // --- jobs ---

    /// [`cancel_job`](Self::cancel_job) under its short name.
    ///
    /// # Errors
    /// As there.
    pub async fn cancel(&self, id: &str) -> Result<Job, Error> {
        self.cancel_job(id).await
    }

    // --- queues ---

    /// The queues the server knows.
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn list_queues(&self) -> Result<Vec<Queue>, Error> {
        Queue::list(&self.get("/queues?pages=all").await?)
    }

    /// How many jobs of a queue are in which state.
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn queue_stats(&self, queue: &str) -> Result<QueueStats, Error> {
        Ok(QueueStats::read(queue, &self.get(&format!("/queues/{}/stats", segment(queue))).await?))
    }

    // --- dead letters ---

    /// Jobs that have failed for good and are kept, newest first.
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn list_dead_letters(&self, queue: Option<&str>, page: Page) -> Result<Vec<Job>, Error> {
        let (limit, offset) = (page.limit.map(|n| n.to_string()), page.offset.map(|n| n.to_string()));
        let query = query(&[("queue", queue), ("limit", limit.as_deref()), ("offset", offset.as_deref())]);
        job::list_from_answer(&self.call(Method::GET, &format!("/dead-letter{query}"), None).await?)
    }

    // --- cron ---

    /// Registers a cron job, or replaces the one of the same name.
    ///
    /// # Errors
    /// 400 `invalid_payload` for an expression or zone that the server cannot read.
    pub async fn register_cron(&self, cron: &CronJob) -> Result<Value, Error> {
        answer::member(&self.register_cron_raw(cron.to_json()?.into()).await?, &["cron", "cron_job"])
    }

    /// The same for a cron job given as JSON text; returns the answer. It is completed with the form that other servers read.
    ///
    /// # Errors
    /// [`Error::Validation`] when the text is no JSON object, else as [`call`](Self::call).
    pub async fn register_cron_raw(&self, cron: Bytes) -> Result<Bytes, Error> {
        self.call(Method::POST, "/cron", Some(forms::cron(&cron)?)).await
    }

    // --- workflows ---

    /// Starts a workflow made by [`chain`](crate::workflow::chain), [`group`](crate::workflow::group) or
    /// [`batch`](crate::workflow::batch).
    ///
    /// # Errors
    /// 400 `invalid_payload` with `details.validation_errors` when the server finds it wrong.
    pub async fn workflow(&self, definition: &WorkflowDefinition) -> Result<Workflow, Error> {
        Workflow::from_answer(&self.workflow_raw(definition.to_json()?.into()).await?)
    }

    /// The same for a definition given as JSON text; returns the answer. A chain, group or batch is completed with the forms that other
    /// servers read.
    ///
    /// # Errors
    /// [`Error::Validation`] when the text is no JSON object, else as [`call`](Self::call).
    pub async fn workflow_raw(&self, definition: Bytes) -> Result<Bytes, Error> {
        self.call(Method::POST, "/workflows", Some(forms::workflow(&definition)?)).await
    }

    // --- the server ---

    /// How the server feels. Succeeds for a degraded server too: read `status`.
    ///
    /// # Errors
    /// [`Error::Transport`] when there is no answer.
    pub async fn health(&self) -> Result<Value, Error> {
        let request = crate::transport::Request::get("/health");
        let response = self.inner.transport.request(request).await?;
        match answer::object(&response.body) {
            Ok(body) if body.get("status").is_some() => Ok(body),
            _ if response.is_success() => Err(Error::json("health", "the answer has no status")),
            _ => Err(Error::from_response(&response)),
        }
    }

    /// What the server is and can do.
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn manifest(&self) -> Result<Value, Error> {
        self.get(MANIFEST_PATH).await
    }

    async fn get(&self, path: &str) -> Result<Value, Error> {
        answer::object(&self.call(Method::GET, path, None).await?)
    }
}
