//! Everything but enqueueing: jobs, queues, dead letters, cron, workflows, health.
use bytes::Bytes;
use serde_json::{Value, json};

use super::Client;
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

    /// A job by its id.
    ///
    /// # Errors
    /// [`Error::is_not_found`], or any error of [`call`](Self::call).
    pub async fn get_job(&self, id: &str) -> Result<Job, Error> {
        job::from_answer(&self.call(Method::GET, &format!("/jobs/{}", segment(id)), None).await?)
    }

    /// Cancels a job; a worker that runs it is told to stop.
    ///
    /// # Errors
    /// [`Error::is_invalid_state_transition`] when it has ended, [`Error::is_not_found`].
    pub async fn cancel_job(&self, id: &str) -> Result<Job, Error> {
        job::from_answer(&self.call(Method::DELETE, &format!("/jobs/{}", segment(id)), None).await?)
    }

    /// [`cancel_job`](Self::cancel_job) under its short name.
    ///
    /// # Errors
    /// As there.
    pub async fn cancel(&self, id: &str) -> Result<Job, Error> {
        self.cancel_job(id).await
    }

    /// Makes a job that was enqueued as pending available.
    ///
    /// # Errors
    /// [`Error::is_invalid_state_transition`] when it is not pending, [`Error::is_not_found`].
    pub async fn activate(&self, id: &str) -> Result<Job, Error> {
        job::from_answer(&self.post(&format!("/jobs/{}/activate", segment(id)), &json!({})).await?)
    }

    /// Changes the priority of a job that waits.
    ///
    /// # Errors
    /// [`Error::is_invalid_state_transition`] when it does not wait, [`Error::is_not_found`].
    pub async fn set_priority(&self, id: &str, priority: i32) -> Result<Job, Error> {
        let body = json!({"priority": priority}).to_string();
        job::from_answer(&self.call(Method::PATCH, &format!("/jobs/{}", segment(id)), Some(body.into())).await?)
    }

    // --- queues ---

    /// The queues the server knows.
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn list_queues(&self) -> Result<Vec<Queue>, Error> {
        Queue::list(&self.get("/queues").await?)
    }

    /// How many jobs of a queue are in which state.
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn queue_stats(&self, queue: &str) -> Result<QueueStats, Error> {
        Ok(QueueStats::read(queue, &self.get(&format!("/queues/{}/stats", segment(queue))).await?))
    }

    /// Stops handing out jobs of a queue. Jobs can still be enqueued.
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn pause_queue(&self, queue: &str) -> Result<(), Error> {
        self.post(&format!("/queues/{}/pause", segment(queue)), &json!({})).await.map(drop)
    }

    /// Hands out jobs of a queue again.
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn resume_queue(&self, queue: &str) -> Result<(), Error> {
        self.post(&format!("/queues/{}/resume", segment(queue)), &json!({})).await.map(drop)
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

    /// A dead letter by its id.
    ///
    /// # Errors
    /// [`Error::is_not_found`], or any error of [`call`](Self::call).
    pub async fn get_dead_letter(&self, id: &str) -> Result<Job, Error> {
        job::from_answer(&self.call(Method::GET, &format!("/dead-letter/{}", segment(id)), None).await?)
    }

    /// Runs a dead letter again, with all its attempts.
    ///
    /// # Errors
    /// [`Error::is_not_found`], [`Error::is_invalid_state_transition`].
    pub async fn retry_dead_letter(&self, id: &str) -> Result<Job, Error> {
        job::from_answer(&self.post(&format!("/dead-letter/{}/retry", segment(id)), &json!({})).await?)
    }

    /// [`retry_dead_letter`](Self::retry_dead_letter) under the name that admin tools use.
    ///
    /// # Errors
    /// As there.
    pub async fn retry_job(&self, id: &str) -> Result<Job, Error> {
        self.retry_dead_letter(id).await
    }

    /// Deletes a dead letter for ever.
    ///
    /// # Errors
    /// [`Error::is_not_found`], or any error of [`call`](Self::call).
    pub async fn delete_dead_letter(&self, id: &str) -> Result<(), Error> {
        self.call(Method::DELETE, &format!("/dead-letter/{}", segment(id)), None).await.map(drop)
    }

    // --- cron ---

    /// Registers a cron job, or replaces the one of the same name.
    ///
    /// # Errors
    /// 400 `invalid_payload` for an expression or zone that the server cannot read.
    pub async fn register_cron(&self, cron: &CronJob) -> Result<Value, Error> {
        let answer = value(&self.register_cron_raw(cron.to_json()?.into()).await?)?;
        Ok(first(answer, &["cron", "cron_job"]))
    }

    /// The same for a cron job given as JSON text; returns the answer. It is completed with the form that other servers read.
    ///
    /// # Errors
    /// [`Error::Validation`] when the text is no JSON object, else as [`call`](Self::call).
    pub async fn register_cron_raw(&self, cron: Bytes) -> Result<Bytes, Error> {
        self.call(Method::POST, "/cron", Some(forms::cron(&cron)?)).await
    }

    /// All cron jobs, as the server describes them.
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn list_cron(&self) -> Result<Vec<Value>, Error> {
        let answer = first(self.get("/cron").await?, &["crons", "cron_jobs", "entries"]);
        Ok(match answer {
            Value::Array(entries) => entries,
            _ => Vec::new(),
        })
    }

    /// A cron job by name, as the server describes it.
    ///
    /// # Errors
    /// [`Error::is_not_found`], or any error of [`call`](Self::call).
    pub async fn get_cron(&self, name: &str) -> Result<Value, Error> {
        Ok(first(self.get(&format!("/cron/{}", segment(name))).await?, &["cron", "cron_job"]))
    }

    /// Deletes a cron job. Jobs it has made live on.
    ///
    /// # Errors
    /// [`Error::is_not_found`], or any error of [`call`](Self::call).
    pub async fn delete_cron(&self, name: &str) -> Result<(), Error> {
        self.call(Method::DELETE, &format!("/cron/{}", segment(name)), None).await.map(drop)
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

    /// A workflow by its id.
    ///
    /// # Errors
    /// [`Error::is_not_found`], or any error of [`call`](Self::call).
    pub async fn get_workflow(&self, id: &str) -> Result<Workflow, Error> {
        Workflow::from_answer(&self.call(Method::GET, &format!("/workflows/{}", segment(id)), None).await?)
    }

    /// Cancels a workflow: what has not begun never will, what runs may finish.
    ///
    /// # Errors
    /// [`Error::is_invalid_state_transition`] when it has ended, [`Error::is_not_found`].
    pub async fn cancel_workflow(&self, id: &str) -> Result<Workflow, Error> {
        Workflow::from_answer(&self.call(Method::DELETE, &format!("/workflows/{}", segment(id)), None).await?)
    }

    // --- the server ---

    /// How the server feels. Succeeds for a degraded server too: read `status`.
    ///
    /// # Errors
    /// [`Error::Transport`] when there is no answer.
    pub async fn health(&self) -> Result<Value, Error> {
        let request = crate::transport::Request::get("/health");
        let response = self.inner.transport.request(request).await?;
        match value(&response.body) {
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
        value(&self.call(Method::GET, path, None).await?)
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Bytes, Error> {
        self.call(Method::POST, path, Some(body.to_string().into())).await
    }
}

fn value(body: &[u8]) -> Result<Value, Error> {
    serde_json::from_slice(body).map_err(|e| Error::json("answer", e))
}

/// The first of the members that is there; servers use several names for one thing.
fn first(mut answer: Value, names: &[&str]) -> Value {
    names.iter().find_map(|name| answer.get_mut(*name).map(Value::take)).unwrap_or(answer)
}
