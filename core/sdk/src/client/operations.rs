// Made from xtask/operations by make gen; do not edit.
//! Operations of the server. Those that are more than a request and its answer stand beside this file.
use std::time::Duration;

use ojs_model::{Timestamp, duration};
use serde::Serialize;
use serde_json::{Map, Value};

use super::Client;
use super::answer;
use super::path::{query, segment};
use crate::error::Error;
use crate::job::{Job, JobState};
use crate::job_page::JobPage;
use crate::transport::Method;
use crate::workflow::Workflow;

/// What can be left out of [`Client::list_jobs`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListJobs {
    /// Only jobs of this queue.
    pub queue: Option<String>,
    /// Only this job type; `email.*` is all types that start with `email.`.
    pub job_type: Option<String>,
    /// Only jobs in this state.
    pub state: Option<JobState>,
    /// Only jobs created at this time or later.
    pub since: Option<Timestamp>,
    /// Only jobs created before this time.
    pub until: Option<Timestamp>,
    /// What the list is sorted by; `created_at` without it. One of created_at, scheduled_at, priority.
    pub sort: Option<String>,
    /// The direction of the sort; `desc` without it: the newest or the highest priority first. One of asc, desc.
    pub order: Option<String>,
    /// The number of the page. The first page is 1.
    pub page: Option<u32>,
    /// The most jobs on one page, 1 to 100.
    pub per_page: Option<u32>,
}

/// What can be left out of [`Client::list_workflows`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListWorkflows {
    /// Only workflows in this state. One of pending, running, completed, failed, cancelled.
    pub state: Option<String>,
    /// The number of the page. The first page is 1.
    pub page: Option<u32>,
    /// The most workflows on one page, 1 to 100; 20 without it.
    pub per_page: Option<u32>,
}

/// What can be left out of [`Client::preview_dead_letters`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PreviewDeadLetters {
    /// Only jobs of this queue.
    pub queue: Option<String>,
    /// Only this job type; `email.*` is all types that start with `email.`.
    pub job_type: Option<String>,
    /// Only jobs whose last error is of this type.
    pub error_type: Option<String>,
    /// Only jobs discarded at this time or later.
    pub since: Option<Timestamp>,
    /// Only jobs discarded before this time.
    pub until: Option<Timestamp>,
    /// These jobs instead: their ids with commas between them, 100 at most.
    pub jobs: Option<String>,
}

/// What can be left out of [`Client::list_workers`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListWorkers {
    /// Only workers in this state.
    pub state: Option<String>,
    /// The number of the page. The first page is 1.
    pub page: Option<u32>,
    /// The most workers on one page, 1 to 100; 20 without it.
    pub per_page: Option<u32>,
}

/// What can be left out of [`Client::stats_history`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatsHistory {
    /// The length of each period; `1m` without it. One of 1m, 5m, 1h, 1d.
    pub period: Option<String>,
    /// Only this queue.
    pub queue: Option<String>,
    /// From this time on.
    pub since: Option<Timestamp>,
    /// Up to this time.
    pub until: Option<Timestamp>,
}

/// What can be left out of [`Client::type_stats`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TypeStats {
    /// From this time on; an hour ago without it.
    pub since: Option<Timestamp>,
    /// Up to this time, at most 7 days later; now without it.
    pub until: Option<Timestamp>,
    /// What comes first, the largest: `processed` (the default), `enqueued`, `failed`, `discarded`, `busy`, `latency`
    /// or `wait`.
    pub sort: Option<String>,
    /// The most types in the answer, 1 to 200; 50 without it.
    pub limit: Option<u32>,
}

/// What can be left out of [`Client::set_maintenance`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SetMaintenance {
    /// Why, for those who ask.
    pub reason: Option<String>,
    /// How long it will take, such as `PT30M`.
    pub estimated_duration: Option<Duration>,
}

/// What can be left out of [`Client::register_schema`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RegisterSchema {
    /// What happens to jobs that do not match. One of strict, warn, off.
    pub mode: Option<String>,
}

/// What can be left out of [`Client::list_trains`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListTrains {
    /// Only trains in this state: `running`, `draining` or `held`.
    pub state: Option<String>,
}

/// What can be left out of [`Client::advance_train`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AdvanceTrain {
    /// Only if this job is the locomotive.
    pub job_id: Option<String>,
}

/// What can be left out of [`Client::list_tenants`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListTenants {
    /// The page, from 1.
    pub page: Option<u32>,
    /// The most tenants on the page, 1 to 100; 20 without it.
    pub per_page: Option<u32>,
}

/// What can be left out of [`Client::tenant_jobs`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TenantJobs {
    /// Only this queue.
    pub queue: Option<String>,
    /// Only this state.
    pub state: Option<JobState>,
    /// The page, from 1.
    pub page: Option<u32>,
    /// The most jobs on the page, 1 to 100; 20 without it.
    pub per_page: Option<u32>,
}

/// What can be left out of [`Client::noisy_tenants`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NoisyTenants {
    /// The signal is more waiting jobs than so many times the median of the others; 10 without it.
    pub depth_factor: Option<u32>,
    /// The signal is more jobs enqueued lately than so many times the average of the others; 5 without it.
    pub rate_factor: Option<u32>,
    /// The signal is a larger share of the active jobs of all tenants, 1 to 100; 50 without it.
    pub active_percent: Option<u32>,
    /// The signal is a larger share of failed attempts than so many times that of the others; 3 without it.
    pub error_factor: Option<u32>,
    /// With fewer jobs that wait or were enqueued lately there is no signal, nor with fewer than a tenth of it that
    /// are active or failed; 100 without it.
    pub min_jobs: Option<u32>,
    /// The most tenants in the answer, 1 to 1,000; 100 without it.
    pub limit: Option<u32>,
}

/// What can be left out of [`Client::list_webhook_deliveries`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListWebhookDeliveries {
    /// Only of this subscription.
    pub subscription_id: Option<String>,
    /// Only in this state. One of pending, sending, delivered, dead.
    pub status: Option<String>,
    /// The most deliveries in the answer, 1 to 200.
    pub limit: Option<u32>,
}

/// What can be left out of [`Client::get_history`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GetHistory {
    /// The most events in the answer, 1 to 1,000; 50 without it.
    pub limit: Option<u32>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// What can be left out of [`Client::history_stats`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HistoryStats {
    /// From this time on; without it an hour, a day or a month back.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub before: Option<Timestamp>,
    /// Only events of jobs of these queues, with commas between them.
    pub queues: Option<String>,
    /// The length of each period; `hour` without it. One of minute, hour, day.
    pub group_by: Option<String>,
}

/// What can be left out of [`Client::list_error_groups`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListErrorGroups {
    /// Only failures of jobs of this queue.
    pub queue: Option<String>,
    /// Only this job type; `email.*` is all types that start with `email.`.
    pub job_type: Option<String>,
    /// Only errors of this type.
    pub error_type: Option<String>,
    /// Only failures of jobs of this tenant.
    pub tenant: Option<String>,
    /// Only groups with a failure at this time or later.
    pub since: Option<Timestamp>,
    /// What comes first: `last_seen_at` (the default), `first_seen_at` or `count`, the latest or the largest.
    pub sort: Option<String>,
    /// The page, from 1.
    pub page: Option<u32>,
    /// The most groups on the page, 1 to 100; 20 without it.
    pub per_page: Option<u32>,
}

/// What can be left out of [`Client::get_error_group`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GetErrorGroup {
    /// Only failures of jobs of this queue.
    pub queue: Option<String>,
    /// Only this job type.
    pub job_type: Option<String>,
    /// Only failures of jobs of this tenant.
    pub tenant: Option<String>,
}

/// What can be left out of [`Client::start_bulk_operation`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StartBulkOperation {
    /// Why, at most 500 characters; it is kept with the operation.
    pub reason: Option<String>,
    /// Say what would be found, and change nothing.
    pub dry_run: Option<bool>,
}

/// What can be left out of [`Client::list_bulk_operations`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListBulkOperations {
    /// Only those in this state: `running`, `paused`, `completed`, `cancelled` or `failed`.
    pub state: Option<String>,
    /// Only those before this one: the id of the last one on the page before.
    pub cursor: Option<String>,
    /// The most on the page, 1 to 100; 20 without it.
    pub per_page: Option<u32>,
}

/// What can be left out of [`Client::get_bulk_operation`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GetBulkOperation {
    /// Answer as soon as it does not run any more, at the latest after so many milliseconds: 60,000 at most.
    pub wait_ms: Option<u32>,
}

/// What can be left out of [`Client::list_relays`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListRelays {
    /// Only relays in this state: `running`, `stuck` or `silent`.
    pub state: Option<String>,
    /// The page, from 1.
    pub page: Option<u32>,
    /// The most relays on the page, 1 to 100; 20 without it.
    pub per_page: Option<u32>,
}

#[rustfmt::skip]
impl Client {

    /// The job with this id.
    ///
    /// # Arguments
    /// * `id`: The job's id.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # let job = client.enqueue("email.send", "ada@example.com").await?;
    /// let job = client.get_job(&job.id).await?;
    /// assert_eq!(job.state.as_str(), "available");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn get_job(&self, id: &str) -> Result<Job, Error> {
        let answer = self.call(Method::GET, &format!("/jobs/{}", segment(id)), None).await?;
        crate::job::from_answer(&answer)
    }

    /// Why a job is not running: a `summary`, and `reasons` in the order in which they have to end. Each reason has
    /// `code` and `message`, and where they are known `since`, `until`, `link` (a path of the API that shows what
    /// holds the job), `command` (one of the tool `ojs` that helps) and `details`. A job that runs, has ended, or is
    /// handed out by the next fetch has no reasons. The answer reads a bounded number of rows, however many jobs
    /// there are.
    ///
    /// # Arguments
    /// * `id`: The job's id.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # let job = client.enqueue("email.send", ()).delay(std::time::Duration::from_secs(3600)).await?;
    /// let explained = client.explain_job(&job.id).await?;
    /// assert_eq!(explained["reasons"][0]["code"], "scheduled");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn explain_job(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::GET, &format!("/jobs/{}/explain", segment(id)), None).await?;
        answer::object(&answer)
    }

    /// One page of the jobs that the filter finds, the newest first unless the list is sorted otherwise. There is
    /// another page while the page says that it has more. Jobs that come and go between two pages move the others,
    /// but not after a `cursor`, which is the `next_cursor` of the page before. With a cursor, or with `count=false`,
    /// a page looks at 5,000 rows at most and has no total: it may be short, or empty, say `complete: false`, and
    /// have a `next_cursor` all the same. Pages with numbers look at a million rows at most, count what is in the
    /// first 20,000, and begin at most 10,000 jobs behind the first. With `q`, a page compares 1,000 jobs at most and
    /// always goes on by cursors; the guide of the dashboard has the words of the language.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// use ojs::ListJobs;
    /// # for number in 0..3 {
    /// #     client.enqueue("email.send", [number]).await?;
    /// # }
    /// let page = client.list_jobs(&ListJobs { job_type: Some("email.*".into()), per_page: Some(2), ..ListJobs::default() }).await?;
    /// assert_eq!((page.jobs.len(), page.total, page.has_more), (2, 3, true));
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_request`, `not_found`.
    pub async fn list_jobs(&self, options: &ListJobs) -> Result<JobPage, Error> {
        let query = query(&[
            ("queue", options.queue.as_deref()),
            ("type", options.job_type.as_deref()),
            ("state", options.state.as_ref().map(|state| state.as_str().to_owned()).as_deref()),
            ("since", options.since.map(|value| value.to_string()).as_deref()),
            ("until", options.until.map(|value| value.to_string()).as_deref()),
            ("sort", options.sort.as_deref()),
            ("order", options.order.as_deref()),
            ("page", Some(options.page.unwrap_or(1).to_string()).as_deref()),
            ("per_page", Some(options.per_page.unwrap_or(100).to_string()).as_deref()),
        ]);
        let answer = self.call(Method::GET, &format!("/admin/jobs{query}"), None).await?;
        JobPage::read(&answer)
    }

    /// Cancels the job. A worker that runs it is told to stop.
    ///
    /// # Arguments
    /// * `id`: The job's id.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # let job = client.enqueue("email.send", "ada@example.com").await?;
    /// assert_eq!(client.cancel_job(&job.id).await?.state.as_str(), "cancelled");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `invalid_state_transition`.
    pub async fn cancel_job(&self, id: &str) -> Result<Job, Error> {
        let answer = self.call(Method::DELETE, &format!("/jobs/{}", segment(id)), None).await?;
        crate::job::from_answer(&answer)
    }

    /// Changes the priority of a job that waits.
    ///
    /// # Arguments
    /// * `id`: The job's id.
    /// * `priority`: The new priority. Higher runs earlier.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # let job = client.enqueue("email.send", "ada@example.com").await?;
    /// assert_eq!(client.set_priority(&job.id, 5).await?.priority, 5);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `invalid_state_transition`, `invalid_payload`.
    pub async fn set_priority(&self, id: &str, priority: i32) -> Result<Job, Error> {
        let mut body = Map::new();
        body.insert("priority".to_owned(), priority.into());
        let answer = self.call(Method::PATCH, &format!("/jobs/{}", segment(id)), Some(Value::Object(body).to_string().into())).await?;
        crate::job::from_answer(&answer)
    }

    /// Makes a job available that was enqueued as pending.
    ///
    /// # Arguments
    /// * `id`: The job's id.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// let job = client.enqueue("report.build", ()).pending().await?;
    /// assert_eq!(client.activate(&job.id).await?.state.as_str(), "available");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `invalid_state_transition`.
    pub async fn activate(&self, id: &str) -> Result<Job, Error> {
        let answer = self.call(Method::POST, &format!("/jobs/{}/activate", segment(id)), Some("{}".into())).await?;
        crate::job::from_answer(&answer)
    }

    /// Runs a discarded job again, with all its attempts. A cancelled job stays cancelled.
    ///
    /// # Arguments
    /// * `id`: The job's id.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.retry_job("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f").await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `invalid_state_transition`.
    pub async fn retry_job(&self, id: &str) -> Result<Job, Error> {
        let answer = self.call(Method::POST, &format!("/admin/jobs/{}/retry", segment(id)), Some("{}".into())).await?;
        crate::job::from_answer(&answer)
    }

    /// The state of the workflow and of its steps.
    ///
    /// # Arguments
    /// * `id`: The workflow's id.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use ojs::{JobRequest, workflow::chain};
    /// # let etl = chain([JobRequest::new("data.fetch", ()), JobRequest::new("data.load", ())]);
    /// # let etl = client.workflow(&etl).await?;
    /// assert_eq!(client.get_workflow(&etl.id).await?.state, "running");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn get_workflow(&self, id: &str) -> Result<Workflow, Error> {
        let answer = self.call(Method::GET, &format!("/workflows/{}", segment(id)), None).await?;
        Workflow::from_answer(&answer)
    }

    /// Cancels the jobs of the workflow that have not begun. Jobs that run may finish.
    ///
    /// # Arguments
    /// * `id`: The workflow's id.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use ojs::{JobRequest, workflow::chain};
    /// # let etl = chain([JobRequest::new("data.fetch", ()), JobRequest::new("data.load", ())]);
    /// # let etl = client.workflow(&etl).await?;
    /// assert_eq!(client.cancel_workflow(&etl.id).await?.state, "cancelled");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `invalid_state_transition`.
    pub async fn cancel_workflow(&self, id: &str) -> Result<Workflow, Error> {
        let answer = self.call(Method::DELETE, &format!("/workflows/{}", segment(id)), None).await?;
        Workflow::from_answer(&answer)
    }

    /// Workflows without their steps, the newest first. A workflow inside another one is a step of it, and not
    /// listed.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use ojs::{JobRequest, workflow::chain};
    /// # let etl = chain([JobRequest::new("data.fetch", ()), JobRequest::new("data.load", ())]);
    /// # let etl = client.workflow(&etl).await?;
    /// use ojs::ListWorkflows;
    /// let running = ListWorkflows { state: Some("running".into()), ..ListWorkflows::default() };
    /// assert_eq!(client.list_workflows(&running).await?[0]["steps_total"], 2);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_request`.
    pub async fn list_workflows(&self, options: &ListWorkflows) -> Result<Vec<Value>, Error> {
        let query = query(&[
            ("state", options.state.as_deref()),
            ("page", options.page.map(|value| value.to_string()).as_deref()),
            ("per_page", options.per_page.map(|value| value.to_string()).as_deref()),
        ]);
        let answer = self.call(Method::GET, &format!("/admin/workflows{query}"), None).await?;
        answer::list(&answer, &["items"])
    }

    /// Stops handing out jobs of the queue until [`resume_queue`](Self::resume_queue). Jobs can still be enqueued. A
    /// queue that does not exist is made, paused: the protocol answers 200 for every name. `ojs queues pause` asks
    /// first.
    ///
    /// # Arguments
    /// * `name`: The name of the queue.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// client.pause_queue("reports").await?;
    /// assert_eq!(client.get_queue("reports").await?["paused"], true);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn pause_queue(&self, name: &str) -> Result<(), Error> {
        self.call(Method::POST, &format!("/queues/{}/pause", segment(name)), Some("{}".into())).await.map(drop)
    }

    /// Hands out jobs of the queue again, and accepts new ones.
    ///
    /// # Arguments
    /// * `name`: The name of the queue.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # client.pause_queue("reports").await?;
    /// client.resume_queue("reports").await?;
    /// assert_eq!(client.get_queue("reports").await?["paused"], false);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn resume_queue(&self, name: &str) -> Result<(), Error> {
        self.call(Method::POST, &format!("/queues/{}/resume", segment(name)), Some("{}".into())).await.map(drop)
    }

    /// Creates a queue with settings, such as `concurrency`, `max_size`, `rate_limit` and `retention`.
    ///
    /// # Arguments
    /// * `name`: The name of the queue.
    /// * `config`: The settings, by their names on the wire.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// use serde_json::json;
    /// client.create_queue("mail", &json!({"concurrency": 20})).await?;
    /// let queue = client.configure_queue("mail", &json!({"rate_limit": {"limit": 100, "period": "PT1M"}})).await?;
    /// assert_eq!(queue["config"]["concurrency"], 20);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `conflict`, `invalid_payload`.
    pub async fn create_queue(&self, name: &str, config: &impl Serialize) -> Result<Value, Error> {
        let mut body = Map::new();
        body.insert("name".to_owned(), name.into());
        body.insert("config".to_owned(), answer::value("config", config)?);
        let answer = self.call(Method::POST, "/queues", Some(Value::Object(body).to_string().into())).await?;
        answer::object(&answer)
    }

    /// A queue with its settings and counts.
    ///
    /// # Arguments
    /// * `name`: The name of the queue.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # client.enqueue("report.build", ()).queue("reports").await?;
    /// assert_eq!(client.get_queue("reports").await?["counts"]["available"], 1);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn get_queue(&self, name: &str) -> Result<Value, Error> {
        let answer = self.call(Method::GET, &format!("/queues/{}", segment(name)), None).await?;
        answer::object(&answer)
    }

    /// Changes the settings that are named and leaves the others. A setting of null goes back to the template, the
    /// queue `_default`.
    ///
    /// # Arguments
    /// * `name`: The name of the queue.
    /// * `config`: The settings, by their names on the wire.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # client.create_queue("mail", &json!({"concurrency": 20})).await?;
    /// let queue = client.configure_queue("mail", &json!({"concurrency": null, "max_size": 1000})).await?;
    /// assert_eq!(queue["config"], json!({"max_size": 1000}));
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_payload`.
    pub async fn configure_queue(&self, name: &str, config: &impl Serialize) -> Result<Value, Error> {
        let body = answer::value("config", config)?;
        let answer = self.call(Method::PUT, &format!("/queues/{}/config", segment(name)), Some(body.to_string().into())).await?;
        answer::object(&answer)
    }

    /// Accepts no more jobs for the queue and hands out those that are in it, until
    /// [`resume_queue`](Self::resume_queue).
    ///
    /// # Arguments
    /// * `name`: The name of the queue.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # client.enqueue("report.build", ()).queue("reports").await?;
    /// client.drain_queue("reports").await?;
    /// assert_eq!(client.get_queue("reports").await?["state"], "draining");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn drain_queue(&self, name: &str) -> Result<(), Error> {
        self.call(Method::POST, &format!("/queues/{}/drain", segment(name)), Some("{}".into())).await.map(drop)
    }

    /// How the jobs of a queue are shared: by tenant or by key, and with which weights.
    ///
    /// # Arguments
    /// * `name`: The name of the queue.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # client.set_fairness("mail", &json!({"weights": {"acme": 3}})).await?;
    /// assert_eq!(client.get_fairness("mail").await?["weights"], json!({"acme": 3}));
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn get_fairness(&self, name: &str) -> Result<Value, Error> {
        let answer = self.call(Method::GET, &format!("/admin/queues/{}/fairness", segment(name)), None).await?;
        answer::object(&answer)
    }

    /// Shares the jobs of a queue, those that wait included: among jobs of one priority, keys get jobs handed out in
    /// turn, in proportion to their weights. The settings are `by` (`tenant`, the default, or `key`: the
    /// `fairness_key` of a job, and its tenant where it names none), `weights` by id of the tenant or by key (1 to
    /// 1000, at most 100), and `default_weight` for all others (1). A tenant without a weight has the
    /// `fairness_weight` of its limits. What is left out has its default, and `enabled` of `false` ends the sharing.
    /// The answer is 201 when the queue was not shared before.
    ///
    /// # Arguments
    /// * `name`: The name of the queue. It is made when there is none.
    /// * `sharing`: The settings, by their names on the wire.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// use serde_json::json;
    /// let sharing = client.set_fairness("mail", &json!({"weights": {"acme": 4}})).await?;
    /// assert_eq!(sharing["weights"]["acme"], 4);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_payload`, `not_found`.
    pub async fn set_fairness(&self, name: &str, sharing: &impl Serialize) -> Result<Value, Error> {
        let body = answer::value("sharing", sharing)?;
        let answer = self.call(Method::PUT, &format!("/admin/queues/{}/fairness", segment(name)), Some(body.to_string().into())).await?;
        answer::object(&answer)
    }

    /// Ends the sharing of a queue: its jobs are handed out in their order again.
    ///
    /// # Arguments
    /// * `name`: The name of the queue.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # client.set_fairness("mail", &json!({"weights": {"acme": 3}})).await?;
    /// client.delete_fairness("mail").await?;
    /// assert!(client.get_fairness("mail").await.is_err_and(|error| error.is_not_found()));
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn delete_fairness(&self, name: &str) -> Result<(), Error> {
        self.call(Method::DELETE, &format!("/admin/queues/{}/fairness", segment(name)), None).await.map(drop)
    }

    /// The keys that have limits, with how much of each limit is used.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # client.enqueue("charge.card", ()).rate_limit(json!({"key": "stripe", "concurrency": 5})).await?;
    /// assert_eq!(client.list_rate_limits().await?[0]["key"], "stripe");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_request`.
    pub async fn list_rate_limits(&self) -> Result<Vec<Value>, Error> {
        let query = query(&[
            ("limit", Some("200")),
            ("pages", Some("all")),
        ]);
        let answer = self.call(Method::GET, &format!("/rate-limits{query}"), None).await?;
        answer::list(&answer, &["items"])
    }

    /// The limits of a key, with how much of each is used.
    ///
    /// # Arguments
    /// * `key`: The key.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # client.enqueue("charge.card", ()).rate_limit(json!({"key": "stripe", "concurrency": 5})).await?;
    /// assert_eq!(client.get_rate_limit("stripe").await?["concurrency"]["limit"], 5);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn get_rate_limit(&self, key: &str) -> Result<Value, Error> {
        let answer = self.call(Method::GET, &format!("/rate-limits/{}", segment(key)), None).await?;
        answer::object(&answer)
    }

    /// The dead letter with this id.
    ///
    /// # Arguments
    /// * `id`: The job's id.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.get_dead_letter("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f").await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn get_dead_letter(&self, id: &str) -> Result<Job, Error> {
        let answer = self.call(Method::GET, &format!("/dead-letter/{}", segment(id)), None).await?;
        crate::job::from_answer(&answer)
    }

    /// Runs a dead letter again, with all its attempts.
    ///
    /// # Arguments
    /// * `id`: The job's id.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.retry_dead_letter("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f").await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `invalid_state_transition`, `invalid_payload`, `schema_validation`, `validation_error`, `metadata_too_large`.
    pub async fn retry_dead_letter(&self, id: &str) -> Result<Job, Error> {
        let answer = self.call(Method::POST, &format!("/dead-letter/{}/retry", segment(id)), Some("{}".into())).await?;
        crate::job::from_answer(&answer)
    }

    /// Deletes a dead letter. It cannot be brought back.
    ///
    /// # Arguments
    /// * `id`: The job's id.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// client.delete_dead_letter("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f").await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn delete_dead_letter(&self, id: &str) -> Result<(), Error> {
        self.call(Method::DELETE, &format!("/dead-letter/{}", segment(id)), None).await.map(drop)
    }

    /// How many dead letters there are, by queue and by type of error, and since when. Where more than 20,000 are
    /// kept, the numbers in `by_error_type` are those of the newest 20,000: `by_error_type_relation` is `gte`. A
    /// caller of a tenant gets all numbers so, with `total_relation` and `by_queue_relation`.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// assert_eq!(client.dead_letter_stats().await?["total"], 0);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn dead_letter_stats(&self) -> Result<Value, Error> {
        let answer = self.call(Method::GET, "/dead-letter/stats", None).await?;
        answer::object(&answer)
    }

    /// What would come of running dead letters again: which would be refused, which would wait and for what, and
    /// which would run although an enqueue of the same job would be refused. Nothing is changed. `matched` dead
    /// letters are meant (at least so many where `matched_relation` is `gte`: a filter is compared with 20,000), of
    /// which the newest 500 are looked at (`looked_at`, `complete`). Of these `would_run`, `would_wait` and
    /// `would_be_refused` say how many; `with_warnings` run or wait beside that. Each of `reasons` has `code`,
    /// `effect` (`refused`, `waits` or `warning`), `message`, the number of `jobs`, the first of them as `job_id`
    /// and, where there is one, the `command` that helps. `jobs` has the first 20 jobs that meet one. Limits that
    /// free themselves as jobs end (full workers, concurrency, rates) are no reason.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.preview_dead_letters(&ojs::PreviewDeadLetters { queue: Some("mail".to_owned()), error_type: Some("Timeout".to_owned()), ..Default::default() }).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_request`.
    pub async fn preview_dead_letters(&self, options: &PreviewDeadLetters) -> Result<Value, Error> {
        let query = query(&[
            ("queue", options.queue.as_deref()),
            ("type", options.job_type.as_deref()),
            ("error_type", options.error_type.as_deref()),
            ("since", options.since.map(|value| value.to_string()).as_deref()),
            ("until", options.until.map(|value| value.to_string()).as_deref()),
            ("job_ids", options.jobs.as_deref()),
        ]);
        let answer = self.call(Method::GET, &format!("/dead-letter/preview{query}"), None).await?;
        answer::object(&answer)
    }

    /// All cron entries.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use ojs::{CronJob, JobRequest};
    /// # client.register_cron(&CronJob::new("digest", "0 7 * * *", JobRequest::new("digest.send", ()))).await?;
    /// let crons = client.list_cron().await?;
    /// assert_eq!(crons[0]["expression"], "0 7 * * *");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_request`.
    pub async fn list_cron(&self) -> Result<Vec<Value>, Error> {
        let query = query(&[
            ("pages", Some("all")),
        ]);
        let answer = self.call(Method::GET, &format!("/cron{query}"), None).await?;
        answer::list(&answer, &["crons", "cron_jobs", "entries"])
    }

    /// The cron entry of this name.
    ///
    /// # Arguments
    /// * `name`: The name of the entry.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use ojs::{CronJob, JobRequest};
    /// # client.register_cron(&CronJob::new("digest", "0 7 * * *", JobRequest::new("digest.send", ()))).await?;
    /// assert_eq!(client.get_cron("digest").await?["enabled"], true);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `invalid_request`.
    pub async fn get_cron(&self, name: &str) -> Result<Value, Error> {
        let answer = self.call(Method::GET, &format!("/cron/{}", segment(name)), None).await?;
        answer::member(&answer, &["cron", "cron_job"])
    }

    /// Enables the cron entry, or disables it. A disabled entry enqueues no jobs.
    ///
    /// # Arguments
    /// * `name`: The name of the entry.
    /// * `enabled`: Whether the entry enqueues jobs.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use ojs::{CronJob, JobRequest};
    /// # client.register_cron(&CronJob::new("digest", "0 7 * * *", JobRequest::new("digest.send", ()))).await?;
    /// assert_eq!(client.enable_cron("digest", false).await?["enabled"], false);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `invalid_payload`.
    pub async fn enable_cron(&self, name: &str, enabled: bool) -> Result<Value, Error> {
        let mut body = Map::new();
        body.insert("enabled".to_owned(), enabled.into());
        let answer = self.call(Method::PATCH, &format!("/cron/{}", segment(name)), Some(Value::Object(body).to_string().into())).await?;
        answer::member(&answer, &["cron", "cron_job"])
    }

    /// Enqueues a job of the cron entry now, whether the entry is enabled or not. Its schedule stays. The overlap
    /// policy holds: while the latest job of the entry goes on, `skip` and `enqueue` answer with 409 `conflict`, and
    /// `cancel_previous` cancels that job.
    ///
    /// # Arguments
    /// * `name`: The name of the entry.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use ojs::{CronJob, JobRequest};
    /// # client.register_cron(&CronJob::new("digest", "0 7 * * *", JobRequest::new("digest.send", ()))).await?;
    /// assert_eq!(client.run_cron("digest").await?.job_type, "digest.send");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn run_cron(&self, name: &str) -> Result<Job, Error> {
        let answer = self.call(Method::POST, &format!("/cron/{}/run", segment(name)), Some("{}".into())).await?;
        crate::job::from_answer(&answer)
    }

    /// Deletes the cron entry. The jobs that it has enqueued stay.
    ///
    /// # Arguments
    /// * `name`: The name of the entry.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use ojs::{CronJob, JobRequest};
    /// # client.register_cron(&CronJob::new("digest", "0 7 * * *", JobRequest::new("digest.send", ()))).await?;
    /// client.delete_cron("digest").await?;
    /// assert!(client.list_cron().await?.is_empty());
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn delete_cron(&self, name: &str) -> Result<(), Error> {
        self.call(Method::DELETE, &format!("/cron/{}", segment(name)), None).await.map(drop)
    }

    /// The workers that the server knows, with what each of them does.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// use ojs::ListWorkers;
    /// assert!(client.list_workers(&ListWorkers::default()).await?.is_empty());
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_request`.
    pub async fn list_workers(&self, options: &ListWorkers) -> Result<Vec<Value>, Error> {
        let query = query(&[
            ("state", options.state.as_deref()),
            ("page", options.page.map(|value| value.to_string()).as_deref()),
            ("per_page", options.per_page.map(|value| value.to_string()).as_deref()),
        ]);
        let answer = self.call(Method::GET, &format!("/admin/workers{query}"), None).await?;
        answer::list(&answer, &["items"])
    }

    /// The worker with this id.
    ///
    /// # Arguments
    /// * `id`: The worker's id.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.get_worker("mail-1").await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn get_worker(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::GET, &format!("/admin/workers/{}", segment(id)), None).await?;
        answer::object(&answer)
    }

    /// Tells a worker to take no more jobs (`quiet`), to stop (`terminate`), or to take jobs again (`resume`). The
    /// worker hears of it with its next heartbeat.
    ///
    /// # Arguments
    /// * `id`: The worker's id.
    /// * `directive`: What the worker shall do.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.direct_worker("mail-1", "quiet").await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `invalid_request`.
    pub async fn direct_worker(&self, id: &str, directive: &str) -> Result<Value, Error> {
        let answer = self.call(Method::POST, &format!("/admin/workers/{}/{}", segment(id), segment(directive)), Some("{}".into())).await?;
        answer::object(&answer)
    }

    /// Removes a worker that no longer sends heartbeats. Its jobs go back to their queues.
    ///
    /// # Arguments
    /// * `id`: The worker's id.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.remove_worker("mail-1").await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `conflict`.
    pub async fn remove_worker(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::DELETE, &format!("/admin/workers/{}", segment(id)), None).await?;
        answer::object(&answer)
    }

    /// Jobs by state, throughput, latency and workers of the whole server.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # client.enqueue("report.build", ()).queue("reports").await?;
    /// assert_eq!(client.server_stats().await?["jobs"]["available"], 1);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn server_stats(&self) -> Result<Value, Error> {
        let answer = self.call(Method::GET, "/admin/stats", None).await?;
        answer::object(&answer)
    }

    /// Throughput and latency over time, oldest first. Periods in which nothing ran are left out.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// # use ojs::Timestamp;
    /// let answer = client.stats_history(&ojs::StatsHistory { period: Some("1h".to_owned()), queue: Some("mail".to_owned()), since: Some(Timestamp::parse("2031-01-01T00:00:00Z").unwrap()), ..Default::default() }).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_request`, `not_found`.
    pub async fn stats_history(&self, options: &StatsHistory) -> Result<Vec<Value>, Error> {
        let query = query(&[
            ("period", options.period.as_deref()),
            ("queue", options.queue.as_deref()),
            ("since", options.since.map(|value| value.to_string()).as_deref()),
            ("until", options.until.map(|value| value.to_string()).as_deref()),
        ]);
        let answer = self.call(Method::GET, &format!("/admin/stats/history{query}"), None).await?;
        answer::list(&answer, &["items"])
    }

    /// What happened to the jobs of each type over a length of time: how many, how long they ran and waited. An item
    /// has `type`, `enqueued`, `processed`, `failed`, `discarded`, `busy_ms` (the time that completed attempts have
    /// taken), `latency_ms` and `wait_ms` with `p50`, `p95` and `p99`. In a minute and in an hour 200 types are told
    /// apart; the others are the type `_other`. Figures are kept by minutes for two hours and by hours for 30 days,
    /// so an earlier `since` counts from the beginning of its hour.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// # use ojs::Timestamp;
    /// let answer = client.type_stats(&ojs::TypeStats { since: Some(Timestamp::parse("2031-01-01T00:00:00Z").unwrap()), sort: Some("failed".to_owned()), limit: Some(20), ..Default::default() }).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_request`.
    pub async fn type_stats(&self, options: &TypeStats) -> Result<Vec<Value>, Error> {
        let query = query(&[
            ("since", options.since.map(|value| value.to_string()).as_deref()),
            ("until", options.until.map(|value| value.to_string()).as_deref()),
            ("sort", options.sort.as_deref()),
            ("limit", options.limit.map(|value| value.to_string()).as_deref()),
        ]);
        let answer = self.call(Method::GET, &format!("/admin/stats/types{query}"), None).await?;
        answer::list(&answer, &["items"])
    }

    /// Whether the server is in maintenance, since when and why.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// assert_eq!(client.maintenance().await?["maintenance"], false);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn maintenance(&self) -> Result<Value, Error> {
        let answer = self.call(Method::GET, "/admin/system/maintenance", None).await?;
        answer::object(&answer)
    }

    /// Begins or ends maintenance. During it jobs are accepted, and none is handed out.
    ///
    /// # Arguments
    /// * `enabled`: Whether the server is in maintenance.
    /// * `options`: What can be left out.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// use ojs::SetMaintenance;
    /// let why = SetMaintenance { reason: Some("moving".into()), ..SetMaintenance::default() };
    /// client.set_maintenance(true, &why).await?;
    /// assert_eq!(client.maintenance().await?["reason"], "moving");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_request`.
    pub async fn set_maintenance(&self, enabled: bool, options: &SetMaintenance) -> Result<Value, Error> {
        let mut body = Map::new();
        body.insert("enabled".to_owned(), enabled.into());
        if let Some(value) = options.reason.clone() {
            body.insert("reason".to_owned(), value.into());
        }
        if let Some(value) = options.estimated_duration.map(duration::format) {
            body.insert("estimated_duration".to_owned(), value.into());
        }
        let answer = self.call(Method::POST, "/admin/system/maintenance", Some(Value::Object(body).to_string().into())).await?;
        answer::object(&answer)
    }

    /// Compares the rows of the server's store with each other and changes nothing: counts with jobs, jobs with their
    /// bodies, workflows with their steps, and so on. `sound` is true when nothing contradicts anything. `findings`
    /// has the first 1,000 contradictions, each with the check, the row, what was compared, and both values; `total`
    /// counts them all. The time grows with the number of jobs. It takes one of the two connections for lists and
    /// searches; everything else goes on, but for a store in memory, where all wait.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// assert_eq!(client.audit().await?["sound"], true);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn audit(&self) -> Result<Value, Error> {
        let answer = self.call(Method::GET, "/admin/system/audit", None).await?;
        answer::object(&answer)
    }

    /// The settings that the server runs with. There are no secrets among them.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// assert_eq!(client.server_config().await?["backend"]["type"], "memory");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn server_config(&self) -> Result<Value, Error> {
        let answer = self.call(Method::GET, "/admin/system/config", None).await?;
        answer::object(&answer)
    }

    /// The registered schemas of all job types, without their texts, in order of job type and version.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # use ojs::RegisterSchema;
    /// # let schema = json!({"items": {"type": "string"}});
    /// # client.register_schema("email.send", "1.0.0", &schema, &RegisterSchema::default()).await?;
    /// assert_eq!(client.list_schemas().await?[0]["job_type"], "email.send");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn list_schemas(&self) -> Result<Vec<Value>, Error> {
        let query = query(&[
            ("limit", Some("200")),
            ("pages", Some("all")),
        ]);
        let answer = self.call(Method::GET, &format!("/schemas{query}"), None).await?;
        answer::list(&answer, &["schemas"])
    }

    /// Registers the JSON Schema of the arguments of a job type. A registered version never changes. With `mode`
    /// `strict` jobs that do not match are refused, with `warn`, the default, they are accepted with warnings, with
    /// `off` they are not compared. Within a major version, a schema that refuses what the version before accepted is
    /// refused itself.
    ///
    /// # Arguments
    /// * `job_type`: The job type.
    /// * `version`: The version: `2`, `2.1` or `2.1.0`.
    /// * `schema`: A JSON Schema, draft 2020-12, for the array of arguments.
    /// * `options`: What can be left out.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// use ojs::RegisterSchema;
    /// use serde_json::json;
    /// let schema = json!({"items": {"type": "string"}});
    /// let strict = RegisterSchema { mode: Some("strict".into()), ..RegisterSchema::default() };
    /// client.register_schema("email.send", "1.0.0", &schema, &strict).await?;
    /// assert!(client.enqueue("email.send", (5,)).await.is_err());
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `conflict`, `invalid_payload`, `validation_error`.
    pub async fn register_schema(&self, job_type: &str, version: &str, schema: &impl Serialize, options: &RegisterSchema) -> Result<Value, Error> {
        let mut body = Map::new();
        body.insert("job_type".to_owned(), job_type.into());
        body.insert("version".to_owned(), version.into());
        body.insert("schema".to_owned(), answer::value("schema", schema)?);
        if let Some(value) = options.mode.clone() {
            body.insert("mode".to_owned(), value.into());
        }
        let answer = self.call(Method::POST, "/schemas", Some(Value::Object(body).to_string().into())).await?;
        answer::member(&answer, &["schema"])
    }

    /// The schema of the highest version of a job type.
    ///
    /// # Arguments
    /// * `job_type`: The job type, or the URI of a schema.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # use ojs::RegisterSchema;
    /// # let schema = json!({"items": {"type": "string"}});
    /// # client.register_schema("email.send", "1.0.0", &schema, &RegisterSchema::default()).await?;
    /// assert_eq!(client.get_schema("email.send").await?["version"], "1.0.0");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn get_schema(&self, job_type: &str) -> Result<Value, Error> {
        let answer = self.call(Method::GET, &format!("/schemas/{}", segment(job_type)), None).await?;
        answer::member(&answer, &["schema"])
    }

    /// The schema of a version of a job type.
    ///
    /// # Arguments
    /// * `job_type`: The job type.
    /// * `version`: The version.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # use ojs::RegisterSchema;
    /// # let schema = json!({"items": {"type": "string"}});
    /// # client.register_schema("email.send", "1.0.0", &schema, &RegisterSchema::default()).await?;
    /// let found = client.get_schema_version("email.send", "1.0.0").await?;
    /// assert_eq!(found["schema"], json!({"items": {"type": "string"}}));
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn get_schema_version(&self, job_type: &str, version: &str) -> Result<Value, Error> {
        let answer = self.call(Method::GET, &format!("/schemas/{}/{}", segment(job_type), segment(version)), None).await?;
        answer::member(&answer, &["schema"])
    }

    /// The versions of a job type, highest first.
    ///
    /// # Arguments
    /// * `job_type`: The job type.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # use ojs::RegisterSchema;
    /// # let schema = json!({"items": {"type": "string"}});
    /// # client.register_schema("email.send", "1.0.0", &schema, &RegisterSchema::default()).await?;
    /// assert_eq!(client.list_schema_versions("email.send").await?[0]["is_latest"], true);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn list_schema_versions(&self, job_type: &str) -> Result<Vec<Value>, Error> {
        let answer = self.call(Method::GET, &format!("/schemas/{}/versions", segment(job_type)), None).await?;
        answer::list(&answer, &["versions"])
    }

    /// Changes what happens to jobs that do not match a version. Jobs that are stored are not looked at again.
    ///
    /// # Arguments
    /// * `job_type`: The job type.
    /// * `version`: The version.
    /// * `mode`: `strict`, `warn` or `off`.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # use ojs::RegisterSchema;
    /// # let schema = json!({"items": {"type": "string"}});
    /// # client.register_schema("email.send", "1.0.0", &schema, &RegisterSchema::default()).await?;
    /// assert_eq!(client.set_schema_mode("email.send", "1.0.0", "strict").await?["mode"], "strict");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `invalid_payload`.
    pub async fn set_schema_mode(&self, job_type: &str, version: &str, mode: &str) -> Result<Value, Error> {
        let mut body = Map::new();
        body.insert("mode".to_owned(), mode.into());
        let answer = self.call(Method::PATCH, &format!("/schemas/{}/{}", segment(job_type), segment(version)), Some(Value::Object(body).to_string().into())).await?;
        answer::member(&answer, &["schema"])
    }

    /// Deletes a version. Jobs that were stored under it stay.
    ///
    /// # Arguments
    /// * `job_type`: The job type.
    /// * `version`: The version.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # use ojs::RegisterSchema;
    /// # let schema = json!({"items": {"type": "string"}});
    /// # client.register_schema("email.send", "1.0.0", &schema, &RegisterSchema::default()).await?;
    /// client.delete_schema("email.send", "1.0.0").await?;
    /// assert!(client.list_schemas().await?.is_empty());
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn delete_schema(&self, job_type: &str, version: &str) -> Result<(), Error> {
        self.call(Method::DELETE, &format!("/schemas/{}/{}", segment(job_type), segment(version)), None).await.map(drop)
    }

    /// The trains that have jobs, in the order of their ids, or only those in one state; the one that was held first
    /// comes first.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # for name in ["a", "b"] {
    /// #     client.enqueue("file.copy", (name,)).train("dest_7").await?;
    /// # }
    /// use ojs::ListTrains;
    /// assert_eq!(client.list_trains(&ListTrains::default()).await?[0]["id"], "dest_7");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_request`.
    pub async fn list_trains(&self, options: &ListTrains) -> Result<Vec<Value>, Error> {
        let query = query(&[
            ("state", options.state.as_deref()),
            ("limit", Some("200")),
            ("pages", Some("all")),
        ]);
        let answer = self.call(Method::GET, &format!("/trains{query}"), None).await?;
        answer::list(&answer, &["trains"])
    }

    /// A train: its state, its locomotive, which is the one job that may run, and its jobs in the order in which they
    /// run.
    ///
    /// # Arguments
    /// * `id`: The id of the train.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # for name in ["a", "b"] {
    /// #     client.enqueue("file.copy", (name,)).train("dest_7").await?;
    /// # }
    /// assert_eq!(client.get_train("dest_7").await?["length"], 2);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `invalid_request`.
    pub async fn get_train(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::GET, &format!("/trains/{}", segment(id)), None).await?;
        answer::object(&answer)
    }

    /// Ends the hold of a train: a locomotive that has ended leaves it, and the next job may run.
    ///
    /// # Arguments
    /// * `id`: The id of the train.
    /// * `options`: What can be left out.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # for name in ["a", "b"] {
    /// #     client.enqueue("file.copy", (name,)).train("dest_7").await?;
    /// # }
    /// # client.hold_train("dest_7").await?;
    /// use ojs::AdvanceTrain;
    /// assert_eq!(client.advance_train("dest_7", &AdvanceTrain::default()).await?["state"], "running");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `conflict`, `invalid_request`, `invalid_payload`.
    pub async fn advance_train(&self, id: &str, options: &AdvanceTrain) -> Result<Value, Error> {
        let mut body = Map::new();
        body.insert("confirm".to_owned(), true.into());
        if let Some(value) = options.job_id.clone() {
            body.insert("job_id".to_owned(), value.into());
        }
        let answer = self.call(Method::POST, &format!("/trains/{}/advance", segment(id)), Some(Value::Object(body).to_string().into())).await?;
        answer::object(&answer)
    }

    /// Holds a train: a job of it that runs may end, and no further one starts until
    /// [`advance_train`](Self::advance_train).
    ///
    /// # Arguments
    /// * `id`: The id of the train.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # for name in ["a", "b"] {
    /// #     client.enqueue("file.copy", (name,)).train("dest_7").await?;
    /// # }
    /// assert_eq!(client.hold_train("dest_7").await?["state"], "held");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn hold_train(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::POST, &format!("/trains/{}/hold", segment(id)), Some("{}".into())).await?;
        answer::object(&answer)
    }

    /// The tenants of the server by id, with the number of their jobs and their limits.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # client.put_tenant("acme", &serde_json::json!({"name": "Acme Ltd."})).await?;
    /// use ojs::ListTenants;
    /// assert_eq!(client.list_tenants(&ListTenants::default()).await?[0]["name"], "Acme Ltd.");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_request`.
    pub async fn list_tenants(&self, options: &ListTenants) -> Result<Vec<Value>, Error> {
        let query = query(&[
            ("page", options.page.map(|value| value.to_string()).as_deref()),
            ("per_page", options.per_page.map(|value| value.to_string()).as_deref()),
        ]);
        let answer = self.call(Method::GET, &format!("/admin/tenants{query}"), None).await?;
        answer::list(&answer, &["items"])
    }

    /// A tenant with its status, its limits and the number of its jobs by state.
    ///
    /// # Arguments
    /// * `id`: The id of the tenant.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # client.put_tenant("acme", &serde_json::json!({"name": "Acme Ltd."})).await?;
    /// assert_eq!(client.get_tenant("acme").await?["status"], "active");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn get_tenant(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::GET, &format!("/admin/tenants/{}", segment(id)), None).await?;
        answer::object(&answer)
    }

    /// Makes a tenant, or changes what the body names of one. A job that names a new tenant makes it as well.
    ///
    /// # Arguments
    /// * `id`: The id of the tenant.
    /// * `changes`: Its members: `name` (for people), `limits` (as in `PUT /admin/tenants/{id}/limits`),
    ///   `fairness_weight` (which leaves the other limits as they are) and `status` (`active` or `suspended`).
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// use serde_json::json;
    /// let tenant = client.put_tenant("acme", &json!({"limits": {"max_concurrency": 10}})).await?;
    /// assert_eq!(tenant["limits"]["max_concurrency"], 10);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_payload`.
    pub async fn put_tenant(&self, id: &str, changes: &impl Serialize) -> Result<Value, Error> {
        let body = answer::value("changes", changes)?;
        let answer = self.call(Method::PUT, &format!("/admin/tenants/{}", segment(id)), Some(body.to_string().into())).await?;
        answer::object(&answer)
    }

    /// Deletes a tenant with its ended jobs. It is refused while the tenant has jobs that have not ended.
    ///
    /// # Arguments
    /// * `id`: The id of the tenant.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # client.put_tenant("acme", &serde_json::json!({"name": "Acme Ltd."})).await?;
    /// client.delete_tenant("acme").await?;
    /// assert!(client.get_tenant("acme").await.is_err_and(|error| error.is_not_found()));
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `conflict`.
    pub async fn delete_tenant(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::DELETE, &format!("/admin/tenants/{}", segment(id)), None).await?;
        answer::object(&answer)
    }

    /// Sets what a tenant may use: `max_concurrency`, `max_enqueue_rate`, `max_queue_depth` and `max_scheduled`; and
    /// `fairness_weight`, its weight in shared queues. What the body leaves out is not limited any more. Jobs that
    /// have more than the new limits allow stay.
    ///
    /// # Arguments
    /// * `id`: The id of the tenant.
    /// * `limits`: Its members: `max_concurrency` (jobs that are active at a time), `max_enqueue_rate` (`limit` jobs
    ///   in each `period`, an ISO 8601 duration), `max_queue_depth` (jobs that wait, in all queues together),
    ///   `max_scheduled`, and `fairness_weight` (jobs that it gets while a tenant of weight 1 gets one, in queues
    ///   that tenants share: 1 to 1,000); and `reason`, a text for the log of the server.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # client.put_tenant("acme", &serde_json::json!({"name": "Acme Ltd."})).await?;
    /// use serde_json::json;
    /// let tenant = client.set_tenant_limits("acme", &json!({"max_queue_depth": 10000})).await?;
    /// assert_eq!(tenant["limits"]["max_queue_depth"], 10000);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_payload`.
    pub async fn set_tenant_limits(&self, id: &str, limits: &impl Serialize) -> Result<Value, Error> {
        let body = answer::value("limits", limits)?;
        let answer = self.call(Method::PUT, &format!("/admin/tenants/{}/limits", segment(id)), Some(body.to_string().into())).await?;
        answer::object(&answer)
    }

    /// Stops a tenant: its jobs are refused with 403, and those that wait are not handed out. Active jobs go on.
    ///
    /// # Arguments
    /// * `id`: The id of the tenant.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # client.put_tenant("acme", &serde_json::json!({"name": "Acme Ltd."})).await?;
    /// assert_eq!(client.suspend_tenant("acme").await?["status"], "suspended");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn suspend_tenant(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::POST, &format!("/admin/tenants/{}/suspend", segment(id)), Some("{}".into())).await?;
        answer::object(&answer)
    }

    /// Ends the suspension of a tenant: its jobs are taken and handed out again.
    ///
    /// # Arguments
    /// * `id`: The id of the tenant.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # client.put_tenant("acme", &serde_json::json!({"name": "Acme Ltd."})).await?;
    /// # client.suspend_tenant("acme").await?;
    /// assert_eq!(client.resume_tenant("acme").await?["status"], "active");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn resume_tenant(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::POST, &format!("/admin/tenants/{}/resume", segment(id)), Some("{}".into())).await?;
        answer::object(&answer)
    }

    /// What a tenant has: jobs by state and queue, how much of its limits is used, and what was done so far.
    ///
    /// # Arguments
    /// * `id`: The id of the tenant, or `_default`.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # client.enqueue("email.send", ()).tenant("acme").await?;
    /// assert_eq!(client.tenant_stats("acme").await?["jobs"]["available"], 1);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn tenant_stats(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::GET, &format!("/admin/tenants/{}/stats", segment(id)), None).await?;
        answer::object(&answer)
    }

    /// The jobs of a tenant, newest first; with the filters of `GET /admin/jobs`.
    ///
    /// # Arguments
    /// * `id`: The id of the tenant, or `_default`.
    /// * `options`: What can be left out.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # client.enqueue("email.send", ()).tenant("acme").await?;
    /// use ojs::TenantJobs;
    /// let jobs = client.tenant_jobs("acme", &TenantJobs::default()).await?;
    /// assert_eq!(jobs.total, 1);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_request`, `not_found`.
    pub async fn tenant_jobs(&self, id: &str, options: &TenantJobs) -> Result<JobPage, Error> {
        let query = query(&[
            ("queue", options.queue.as_deref()),
            ("state", options.state.as_ref().map(|state| state.as_str().to_owned()).as_deref()),
            ("page", options.page.map(|value| value.to_string()).as_deref()),
            ("per_page", options.per_page.map(|value| value.to_string()).as_deref()),
        ]);
        let answer = self.call(Method::GET, &format!("/admin/tenants/{}/jobs{query}", segment(id)), None).await?;
        JobPage::read(&answer)
    }

    /// Tenants that use far more than the others do, those with the most signals first. Each tenant that has jobs, or
    /// had some in the last five minutes, is compared with the others. An item has `tenant_id`, `signals`,
    /// `queue_depth`, `active`, `error_rate`, and jobs per minute; a signal has `signal` (`queue_depth_ratio`,
    /// `enqueue_rate_ratio`, `active_job_ratio` or `error_rate`), `value`, `compared_with`, `ratio` (null where the
    /// others have none) and `threshold`. The default tenant is left out. Nothing is read of jobs.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.noisy_tenants(&ojs::NoisyTenants { depth_factor: Some(20), min_jobs: Some(50), limit: Some(10), ..Default::default() }).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_request`.
    pub async fn noisy_tenants(&self, options: &NoisyTenants) -> Result<Vec<Value>, Error> {
        let query = query(&[
            ("depth_factor", options.depth_factor.map(|value| value.to_string()).as_deref()),
            ("rate_factor", options.rate_factor.map(|value| value.to_string()).as_deref()),
            ("active_percent", options.active_percent.map(|value| value.to_string()).as_deref()),
            ("error_factor", options.error_factor.map(|value| value.to_string()).as_deref()),
            ("min_jobs", options.min_jobs.map(|value| value.to_string()).as_deref()),
            ("limit", options.limit.map(|value| value.to_string()).as_deref()),
        ]);
        let answer = self.call(Method::GET, &format!("/admin/stats/tenants/noisy{query}"), None).await?;
        answer::list(&answer, &["items"])
    }

    /// The subscriptions, the oldest first, without their secrets. `dropped` says how many events became no delivery
    /// because too many deliveries waited for the subscription; `dropped_since` when the first of them happened, or
    /// null.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # let wanted = json!({"url": "https://example.com/hook", "events": ["job.failed"]});
    /// # let webhook = client.create_webhook(&wanted).await?;
    /// # let id = webhook["id"].as_str().unwrap_or_default();
    /// assert_eq!(client.list_webhooks().await?[0]["id"], id);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn list_webhooks(&self) -> Result<Vec<Value>, Error> {
        let query = query(&[
            ("limit", Some("200")),
            ("pages", Some("all")),
        ]);
        let answer = self.call(Method::GET, &format!("/webhooks/subscriptions{query}"), None).await?;
        answer::list(&answer, &["subscriptions"])
    }

    /// Creates a subscription: events are sent to `url` as signed POST requests. Only this answer has the secret.
    /// Events that happen from then on become deliveries, which are sent until the endpoint answers with 2xx: eight
    /// attempts within 41 hours. `filter` is an object with `queues` and `job_types`. The URL must begin with
    /// https:// and lead to a public address, unless the server allows others.
    ///
    /// # Arguments
    /// * `subscription`: Its members: `url` and `events` (such as `job.completed`, `job.*` or `*`); if wanted
    ///   `secret` (8 to 255 characters; without it the server makes one), `filter`, `metadata` (an object of at most
    ///   4096 bytes), `active` and `format` (`ojs`, `cloudevents` or `cloudevents-binary`).
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// use serde_json::json;
    /// let webhook = client.create_webhook(&json!({"url": "https://example.com/hook", "events": ["job.failed"]})).await?;
    /// assert_eq!(webhook["events"], json!(["job.failed"]));
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `conflict`, `invalid_payload`.
    pub async fn create_webhook(&self, subscription: &impl Serialize) -> Result<Value, Error> {
        let body = answer::value("subscription", subscription)?;
        let answer = self.call(Method::POST, "/webhooks/subscriptions", Some(body.to_string().into())).await?;
        answer::member(&answer, &["subscription"])
    }

    /// A subscription, without its secret. `dropped` says how many events became no delivery because too many
    /// deliveries waited for it; `dropped_since` when the first of them happened, or null.
    ///
    /// # Arguments
    /// * `id`: The id of the subscription, `sub_…`.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # let wanted = json!({"url": "https://example.com/hook", "events": ["job.failed"]});
    /// # let webhook = client.create_webhook(&wanted).await?;
    /// # let id = webhook["id"].as_str().unwrap_or_default();
    /// assert_eq!(client.get_webhook(id).await?["events"], json!(["job.failed"]));
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn get_webhook(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::GET, &format!("/webhooks/subscriptions/{}", segment(id)), None).await?;
        answer::member(&answer, &["subscription"])
    }

    /// Changes a subscription; what is left out stays. Deliveries that wait go to the new URL. A subscription that is
    /// not active gets no new deliveries, and those that wait are not sent until it is active again.
    ///
    /// # Arguments
    /// * `id`: The id of the subscription.
    /// * `changes`: The members that change: `url`, `events`, `active`, `filter`, `metadata`, `format`.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # let wanted = json!({"url": "https://example.com/hook", "events": ["job.failed"]});
    /// # let webhook = client.create_webhook(&wanted).await?;
    /// # let id = webhook["id"].as_str().unwrap_or_default();
    /// let changed = client.update_webhook(id, &json!({"events": ["job.*"]})).await?;
    /// assert_eq!(changed["events"], json!(["job.*"]));
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `invalid_payload`.
    pub async fn update_webhook(&self, id: &str, changes: &impl Serialize) -> Result<Value, Error> {
        let body = answer::value("changes", changes)?;
        let answer = self.call(Method::PATCH, &format!("/webhooks/subscriptions/{}", segment(id)), Some(body.to_string().into())).await?;
        answer::member(&answer, &["subscription"])
    }

    /// Deletes a subscription and its deliveries: nothing more is sent to it.
    ///
    /// # Arguments
    /// * `id`: The id of the subscription.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # let wanted = json!({"url": "https://example.com/hook", "events": ["job.failed"]});
    /// # let webhook = client.create_webhook(&wanted).await?;
    /// # let id = webhook["id"].as_str().unwrap_or_default();
    /// client.delete_webhook(id).await?;
    /// assert!(client.list_webhooks().await?.is_empty());
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn delete_webhook(&self, id: &str) -> Result<(), Error> {
        self.call(Method::DELETE, &format!("/webhooks/subscriptions/{}", segment(id)), None).await.map(drop)
    }

    /// Sends an event `webhook.test` now, once, and answers with what the endpoint said: `success`, `status_code`,
    /// `response_time_ms`, `response_body`.
    ///
    /// # Arguments
    /// * `id`: The id of the subscription.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.test_webhook("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f").await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn test_webhook(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::POST, &format!("/webhooks/subscriptions/{}/test", segment(id)), Some("{}".into())).await?;
        answer::object(&answer)
    }

    /// Gives a subscription a new secret. For 24 hours requests are signed with both; only this answer has the new
    /// one.
    ///
    /// # Arguments
    /// * `id`: The id of the subscription.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # let wanted = json!({"url": "https://example.com/hook", "events": ["job.failed"]});
    /// # let webhook = client.create_webhook(&wanted).await?;
    /// # let id = webhook["id"].as_str().unwrap_or_default();
    /// assert_ne!(client.rotate_webhook_secret(id).await?["secret"], webhook["secret"]);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `invalid_payload`.
    pub async fn rotate_webhook_secret(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::POST, &format!("/webhooks/subscriptions/{}/rotate-secret", segment(id)), Some("{}".into())).await?;
        answer::member(&answer, &["subscription"])
    }

    /// Deliveries, the newest first, without the events that they carry. Delivered ones are kept for a day, dead ones
    /// for 30 days. `total` counts at most 10000.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.list_webhook_deliveries(&ojs::ListWebhookDeliveries { status: Some("dead".to_owned()), limit: Some(50), ..Default::default() }).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_payload`, `not_found`.
    pub async fn list_webhook_deliveries(&self, options: &ListWebhookDeliveries) -> Result<Vec<Value>, Error> {
        let query = query(&[
            ("subscription_id", options.subscription_id.as_deref()),
            ("status", options.status.as_deref()),
            ("limit", Some(options.limit.unwrap_or(50).to_string()).as_deref()),
        ]);
        let answer = self.call(Method::GET, &format!("/webhooks/deliveries{query}"), None).await?;
        answer::list(&answer, &["deliveries"])
    }

    /// A delivery with its event, and how its latest attempt ended.
    ///
    /// # Arguments
    /// * `id`: The id of the delivery, `del_…`.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.get_webhook_delivery("del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f").await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn get_webhook_delivery(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::GET, &format!("/webhooks/deliveries/{}", segment(id)), None).await?;
        answer::member(&answer, &["delivery"])
    }

    /// Sends a delivery again now, with the same id and the attempts of a new one. It may be dead, delivered or
    /// waiting.
    ///
    /// # Arguments
    /// * `id`: The id of the delivery.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.retry_webhook_delivery("del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f").await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `conflict`.
    pub async fn retry_webhook_delivery(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::POST, &format!("/webhooks/deliveries/{}/retry", segment(id)), Some("{}".into())).await?;
        answer::member(&answer, &["delivery"])
    }

    /// How far the latest attempt of a job has come: `progress` from 0 to 1, `data`, `message` and `updated_at`,
    /// which are null when nothing was reported.
    ///
    /// # Arguments
    /// * `id`: The job's id.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # let job = client.enqueue("report.build", ()).await?;
    /// assert!(client.get_progress(&job.id).await?["progress"].is_null(), "nothing was reported");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn get_progress(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::GET, &format!("/jobs/{}/progress", segment(id)), None).await?;
        answer::object(&answer)
    }

    /// How far a workflow has come: `progress` from 0 to 1, and the progress of each of its `steps`. Of a chain it is
    /// the completed steps and the fraction of the current one, of a group the mean of its steps, of a batch the
    /// share of its jobs that have ended.
    ///
    /// # Arguments
    /// * `id`: The workflow's id.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use ojs::{JobRequest, workflow::chain};
    /// # let etl = chain([JobRequest::new("data.fetch", ()), JobRequest::new("data.load", ())]);
    /// # let etl = client.workflow(&etl).await?;
    /// assert_eq!(client.get_workflow_progress(&etl.id).await?["progress"], 0.0);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn get_workflow_progress(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::GET, &format!("/workflows/{}/progress", segment(id)), None).await?;
        answer::object(&answer)
    }

    /// Saves the checkpoint of a job, in place of the one before. It is on disk when the request has been answered,
    /// and the next attempt of the job is delivered with it. The handler of a job saves its own checkpoint, under its
    /// lease. This method is for other programs, which have no lease: it is refused while a worker with lease tokens
    /// holds the job, and when the job has ended.
    ///
    /// # Arguments
    /// * `id`: The job's id.
    /// * `state`: JSON of at most 1 MiB.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # let job = client.enqueue("report.build", ()).await?;
    /// use serde_json::json;
    /// let saved = client.save_checkpoint(&job.id, &json!({"rows": 750})).await?;
    /// assert_eq!(saved["sequence"], 1);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `conflict`, `invalid_state_transition`, `invalid_payload`, `payload_too_large`.
    pub async fn save_checkpoint(&self, id: &str, state: &impl Serialize) -> Result<Value, Error> {
        let mut body = Map::new();
        body.insert("state".to_owned(), answer::value("state", state)?);
        let answer = self.call(Method::PUT, &format!("/jobs/{}/checkpoint", segment(id)), Some(Value::Object(body).to_string().into())).await?;
        answer::object(&answer)
    }

    /// The checkpoint of a job: `state`, `sequence` and `created_at`. It can be read as long as the job.
    ///
    /// # Arguments
    /// * `id`: The job's id.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # let job = client.enqueue("report.build", ()).await?;
    /// # use serde_json::json;
    /// # client.save_checkpoint(&job.id, &json!({"rows": 750})).await?;
    /// assert_eq!(client.get_checkpoint(&job.id).await?["state"], json!({"rows": 750}));
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn get_checkpoint(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::GET, &format!("/jobs/{}/checkpoint", segment(id)), None).await?;
        answer::object(&answer)
    }

    /// Deletes the checkpoint of a job, if it has one: its next attempt begins from the start.
    ///
    /// # Arguments
    /// * `id`: The job's id.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # let job = client.enqueue("report.build", ()).await?;
    /// # use serde_json::json;
    /// # client.save_checkpoint(&job.id, &json!({"rows": 750})).await?;
    /// client.delete_checkpoint(&job.id).await?;
    /// assert!(client.get_checkpoint(&job.id).await.is_err_and(|error| error.is_not_found()));
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn delete_checkpoint(&self, id: &str) -> Result<(), Error> {
        self.call(Method::DELETE, &format!("/jobs/{}/checkpoint", segment(id)), None).await.map(drop)
    }

    /// The endpoints that jobs are sent to, the oldest first, without their secrets. `status` is `active`, `failing`,
    /// `open` (sent nothing for a minute after five failures), `probing`, `waiting` (it has asked for a pause),
    /// `disabled` (it answered 401, 403, 404 or 410) or `paused`; `last_failure` says why.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # let wanted = json!({"endpoint": "https://example.com/jobs", "job_types": ["email.send"]});
    /// # let endpoint = client.create_push_endpoint(&wanted).await?;
    /// # let id = endpoint["id"].as_str().unwrap_or_default();
    /// assert_eq!(client.list_push_endpoints().await?[0]["id"], id);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call).
    pub async fn list_push_endpoints(&self) -> Result<Vec<Value>, Error> {
        let query = query(&[
            ("limit", Some("200")),
            ("pages", Some("all")),
        ]);
        let answer = self.call(Method::GET, &format!("/push/endpoints{query}"), None).await?;
        answer::list(&answer, &["endpoints"])
    }

    /// Registers an endpoint: jobs of its types are sent to it as signed POST requests. Only this answer has the
    /// secret. A job is active under a lease before it is sent, and the answer settles it. The address must begin
    /// with https:// and be public, unless the server allows others.
    ///
    /// # Arguments
    /// * `endpoint`: Its members: `endpoint` (the URL, or `sqs:` and the URL of a queue of Amazon SQS) and
    ///   `job_types` (`*` stands for any characters); if wanted `queues`, `config` (`max_concurrency`, `timeout_ms`,
    ///   `signing_secret`, `weight`, `retry_429`), `routing`, `provider` and `active`.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// use serde_json::json;
    /// let wanted = json!({"endpoint": "https://example.com/jobs", "job_types": ["email.send"]});
    /// assert_eq!(client.create_push_endpoint(&wanted).await?["status"], "active");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `conflict`, `invalid_payload`.
    pub async fn create_push_endpoint(&self, endpoint: &impl Serialize) -> Result<Value, Error> {
        let body = answer::value("endpoint", endpoint)?;
        let answer = self.call(Method::POST, "/push/endpoints", Some(body.to_string().into())).await?;
        answer::member(&answer, &["push_endpoint"])
    }

    /// An endpoint, without its secret.
    ///
    /// # Arguments
    /// * `id`: The id of the endpoint, `push_…`.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # let wanted = json!({"endpoint": "https://example.com/jobs", "job_types": ["email.send"]});
    /// # let endpoint = client.create_push_endpoint(&wanted).await?;
    /// # let id = endpoint["id"].as_str().unwrap_or_default();
    /// assert_eq!(client.get_push_endpoint(id).await?["job_types"], json!(["email.send"]));
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn get_push_endpoint(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::GET, &format!("/push/endpoints/{}", segment(id)), None).await?;
        answer::member(&answer, &["push_endpoint"])
    }

    /// Changes an endpoint; what is left out stays. One that failures have closed or disabled is sent jobs again.
    /// With `active` false it is sent nothing; its jobs stay available for workers that fetch.
    ///
    /// # Arguments
    /// * `id`: The id of the endpoint.
    /// * `changes`: The members that change: `endpoint`, `job_types`, `queues`, `config`, `routing`, `provider`,
    ///   `active`.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # let wanted = json!({"endpoint": "https://example.com/jobs", "job_types": ["email.send"]});
    /// # let endpoint = client.create_push_endpoint(&wanted).await?;
    /// # let id = endpoint["id"].as_str().unwrap_or_default();
    /// let paused = client.update_push_endpoint(id, &json!({"active": false})).await?;
    /// assert_eq!(paused["status"], "paused");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `invalid_payload`.
    pub async fn update_push_endpoint(&self, id: &str, changes: &impl Serialize) -> Result<Value, Error> {
        let body = answer::value("changes", changes)?;
        let answer = self.call(Method::PATCH, &format!("/push/endpoints/{}", segment(id)), Some(body.to_string().into())).await?;
        answer::member(&answer, &["push_endpoint"])
    }

    /// Deletes an endpoint. Deliveries that are under way are settled; its other jobs stay available.
    ///
    /// # Arguments
    /// * `id`: The id of the endpoint.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # use serde_json::json;
    /// # let wanted = json!({"endpoint": "https://example.com/jobs", "job_types": ["email.send"]});
    /// # let endpoint = client.create_push_endpoint(&wanted).await?;
    /// # let id = endpoint["id"].as_str().unwrap_or_default();
    /// client.delete_push_endpoint(id).await?;
    /// assert!(client.list_push_endpoints().await?.is_empty());
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn delete_push_endpoint(&self, id: &str) -> Result<(), Error> {
        self.call(Method::DELETE, &format!("/push/endpoints/{}", segment(id)), None).await.map(drop)
    }

    /// Sends a job of the type `push.test` now, once, and explains the answer: `success`, `outcome`, `explanation`,
    /// `status_code`, `response_time_ms`, `response_body`.
    ///
    /// # Arguments
    /// * `id`: The id of the endpoint.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.test_push_endpoint("push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f").await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn test_push_endpoint(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::POST, &format!("/push/endpoints/{}/test", segment(id)), Some("{}".into())).await?;
        answer::object(&answer)
    }

    /// Gives an endpoint a new secret. For 24 hours requests are signed with both; only this answer has the new one.
    ///
    /// # Arguments
    /// * `id`: The id of the endpoint.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.rotate_push_secret("push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f").await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `invalid_payload`.
    pub async fn rotate_push_secret(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::POST, &format!("/push/endpoints/{}/rotate-secret", segment(id)), Some("{}".into())).await?;
        answer::member(&answer, &["push_endpoint"])
    }

    /// What happened to a job: its events, the oldest first, and its attempts with worker, wait, duration and error.
    /// It is read from the job and from the event log, so it is there for as long as the job. `fingerprint` of a
    /// failed attempt is the same for errors that differ only in numbers, ids and quoted text. The history of a job
    /// has at most the newest 50 failures.
    ///
    /// # Arguments
    /// * `id`: The job's id.
    /// * `options`: What can be left out.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # let job = client.enqueue("email.send", "ada@example.com").await?;
    /// use ojs::GetHistory;
    /// let history = client.get_history(&job.id, &GetHistory::default()).await?;
    /// assert_eq!(history["events"][0]["event_type"], "job.created");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `invalid_request`.
    pub async fn get_history(&self, id: &str, options: &GetHistory) -> Result<Value, Error> {
        let query = query(&[
            ("limit", options.limit.map(|value| value.to_string()).as_deref()),
            ("cursor", options.cursor.as_deref()),
        ]);
        let answer = self.call(Method::GET, &format!("/jobs/{}/history{query}", segment(id)), None).await?;
        answer::object(&answer)
    }

    /// The workflow that a job is part of, with all its steps as a `tree`; a job without a workflow is a tree of its
    /// own. `root_id` is the outermost workflow. `parent_id` and `root_id` of a job without a workflow are what its
    /// client has sent under these names. A tree has at most 1,000 nodes; `truncated` says that there are more.
    ///
    /// # Arguments
    /// * `id`: The job's id.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # let job = client.enqueue("report.build", ()).await?;
    /// assert_eq!(client.get_lineage(&job.id).await?["tree"]["type"], "report.build");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn get_lineage(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::GET, &format!("/jobs/{}/lineage", segment(id)), None).await?;
        answer::object(&answer)
    }

    /// Deletes the history of a job: what happened up to now is not shown any more. The job stays as it is. The
    /// errors and the result of the job are parts of the job: they go when the job is deleted.
    ///
    /// # Arguments
    /// * `id`: The job's id.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// # let job = client.enqueue("report.build", ()).await?;
    /// client.delete_history(&job.id).await?;
    /// let history = client.get_history(&job.id, &ojs::GetHistory::default()).await?;
    /// assert_eq!(history["events"].as_array().map(Vec::len), Some(0));
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn delete_history(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::DELETE, &format!("/jobs/{}/history", segment(id)), None).await?;
        answer::object(&answer)
    }

    /// How many events happened in each minute, hour or day, with average and 95th percentile of the durations, the
    /// oldest first. Periods in which nothing happened are left out. Figures are kept for a day by minutes and for a
    /// month by hours. Durations come from classes, so they are off by 10 % at most. Figures are kept by queue, not
    /// by job type: `job_types` is answered with 501.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// # use ojs::Timestamp;
    /// let answer = client.history_stats(&ojs::HistoryStats { since: Some(Timestamp::parse("2031-01-01T00:00:00Z").unwrap()), queues: Some("mail".to_owned()), group_by: Some("day".to_owned()), ..Default::default() }).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_request`, `not_found`, `unsupported`.
    pub async fn history_stats(&self, options: &HistoryStats) -> Result<Vec<Value>, Error> {
        let query = query(&[
            ("start", options.since.map(|value| value.to_string()).as_deref()),
            ("end", options.before.map(|value| value.to_string()).as_deref()),
            ("queues", options.queues.as_deref()),
            ("group_by", options.group_by.as_deref()),
        ]);
        let answer = self.call(Method::GET, &format!("/history/stats{query}"), None).await?;
        answer::list(&answer, &["buckets"])
    }

    /// Failed attempts put together by their fingerprint, which is the same for errors that differ only in ids,
    /// numbers and quoted text. A group has `fingerprint`, `error_type`, `message` (the last one), `count`,
    /// `first_seen_at`, `last_seen_at`, `queues`, `types` and `job_ids`, the newest jobs of each queue and type, 50
    /// at most. The server keeps the 2,000 groups of a queue and type that failed last, for 30 days after their last
    /// failure. Failures of the last five seconds before a crash may be missing.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// # use ojs::Timestamp;
    /// let answer = client.list_error_groups(&ojs::ListErrorGroups { queue: Some("mail".to_owned()), job_type: Some("email.*".to_owned()), error_type: Some("Timeout".to_owned()), tenant: Some("acme".to_owned()), since: Some(Timestamp::parse("2031-01-01T00:00:00Z").unwrap()), sort: Some("count".to_owned()), page: Some(2), per_page: Some(50), ..Default::default() }).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_request`.
    pub async fn list_error_groups(&self, options: &ListErrorGroups) -> Result<Vec<Value>, Error> {
        let query = query(&[
            ("queue", options.queue.as_deref()),
            ("type", options.job_type.as_deref()),
            ("error_type", options.error_type.as_deref()),
            ("tenant", options.tenant.as_deref()),
            ("since", options.since.map(|value| value.to_string()).as_deref()),
            ("sort", options.sort.as_deref()),
            ("page", options.page.map(|value| value.to_string()).as_deref()),
            ("per_page", options.per_page.map(|value| value.to_string()).as_deref()),
        ]);
        let answer = self.call(Method::GET, &format!("/admin/errors{query}"), None).await?;
        answer::list(&answer, &["items"])
    }

    /// One group of errors, with its `places` (the failures by queue and type) and those of its `jobs` that there
    /// still are.
    ///
    /// # Arguments
    /// * `fingerprint`: The fingerprint, as the history of a job has it.
    /// * `options`: What can be left out.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.get_error_group("1f0c5f9d2a7be643", &ojs::GetErrorGroup { queue: Some("mail".to_owned()), ..Default::default() }).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `invalid_request`.
    pub async fn get_error_group(&self, fingerprint: &str, options: &GetErrorGroup) -> Result<Value, Error> {
        let query = query(&[
            ("queue", options.queue.as_deref()),
            ("type", options.job_type.as_deref()),
            ("tenant", options.tenant.as_deref()),
        ]);
        let answer = self.call(Method::GET, &format!("/admin/errors/{}{query}", segment(fingerprint)), None).await?;
        answer::object(&answer)
    }

    /// Begins to retry, cancel or delete all jobs that a filter finds, and answers at once with the operation. The
    /// server carries it out in slices of 500 jobs, each in a transaction of its own that also keeps the place which
    /// the operation has reached: after a crash it goes on there, on any node. Jobs that were enqueued or have ended
    /// since the request are not meant. Those that cannot be changed are counted by reason. With `dry_run` nothing is
    /// changed: the answer has `matched`, the number of jobs (`relation` is `eq`, `about` or `gte`; at most 50,000
    /// rows are looked at), the numbers by state, queue and type, and a `sample`. To delete needs the permission to
    /// administer. At most 100 operations of a tenant, and 100 of operators, may be under way.
    ///
    /// # Arguments
    /// * `action`: `retry`, `cancel` or `delete`.
    /// * `filter`: Which jobs: `queue`, `type`, `state` (one or a list), `since`, `until`, `priority`, `meta`,
    ///   `error_type` (of the latest error), `dead_letters` (true: only dead letters) and `q` (a search, as lists of
    ///   jobs have it). An empty one means all that the action can reach.
    /// * `options`: What can be left out.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// use ojs::{GetBulkOperation, StartBulkOperation};
    /// use serde_json::json;
    /// # client.enqueue("email.send", ()).await?;
    /// let started = client.start_bulk_operation("cancel", &json!({"queue": "default"}), &StartBulkOperation::default()).await?;
    /// let id = started["id"].as_str().unwrap_or_default();
    /// let ended = client.get_bulk_operation(id, &GetBulkOperation { wait_ms: Some(60_000) }).await?;
    /// assert_eq!(ended["counts"]["changed"], 1);
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_request`, `permission_denied`, `conflict`, `invalid_payload`.
    pub async fn start_bulk_operation(&self, action: &str, filter: &impl Serialize, options: &StartBulkOperation) -> Result<Value, Error> {
        let mut body = Map::new();
        body.insert("action".to_owned(), action.into());
        body.insert("filter".to_owned(), answer::value("filter", filter)?);
        body.insert("confirm".to_owned(), true.into());
        if let Some(value) = options.reason.clone() {
            body.insert("reason".to_owned(), value.into());
        }
        if let Some(value) = options.dry_run {
            body.insert("dry_run".to_owned(), value.into());
        }
        let answer = self.call(Method::POST, "/admin/bulk", Some(Value::Object(body).to_string().into())).await?;
        answer::object(&answer)
    }

    /// Bulk operations, the newest first. They are kept for 30 days after their end, and the last 1,000 of them.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.list_bulk_operations(&ojs::ListBulkOperations { state: Some("running".to_owned()), per_page: Some(50), ..Default::default() }).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_request`.
    pub async fn list_bulk_operations(&self, options: &ListBulkOperations) -> Result<Vec<Value>, Error> {
        let query = query(&[
            ("state", options.state.as_deref()),
            ("cursor", options.cursor.as_deref()),
            ("per_page", options.per_page.map(|value| value.to_string()).as_deref()),
        ]);
        let answer = self.call(Method::GET, &format!("/admin/bulk{query}"), None).await?;
        answer::list(&answer, &["items"])
    }

    /// A bulk operation: its state, how far it is, how many jobs were changed, and how many were refused and why.
    /// `counts` has `seen`, `changed` and `refused`; `refusals` has `count`, the first `job_id` and its `message` for
    /// each `reason`; `progress` has the number of jobs that is `expected` and the `fraction` that is done, where it
    /// can be said.
    ///
    /// # Arguments
    /// * `id`: The id of the operation.
    /// * `options`: What can be left out.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.get_bulk_operation("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", &ojs::GetBulkOperation { wait_ms: Some(30000), ..Default::default() }).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`.
    pub async fn get_bulk_operation(&self, id: &str, options: &GetBulkOperation) -> Result<Value, Error> {
        let query = query(&[
            ("wait_ms", options.wait_ms.map(|value| value.to_string()).as_deref()),
        ]);
        let answer = self.call(Method::GET, &format!("/admin/bulk/{}{query}", segment(id)), None).await?;
        answer::object(&answer)
    }

    /// Stops a bulk operation until it is resumed. The slice that is under way is finished.
    ///
    /// # Arguments
    /// * `id`: The id of the operation.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.pause_bulk_operation("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f").await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `conflict`, `invalid_state_transition`.
    pub async fn pause_bulk_operation(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::POST, &format!("/admin/bulk/{}/pause", segment(id)), Some("{}".into())).await?;
        answer::object(&answer)
    }

    /// Goes on with a bulk operation that was paused, or that has failed, where it stopped.
    ///
    /// # Arguments
    /// * `id`: The id of the operation.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.resume_bulk_operation("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f").await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `conflict`, `invalid_state_transition`, `permission_denied`.
    pub async fn resume_bulk_operation(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::POST, &format!("/admin/bulk/{}/resume", segment(id)), Some("{}".into())).await?;
        answer::object(&answer)
    }

    /// Ends a bulk operation for good. Jobs that it has changed stay changed.
    ///
    /// # Arguments
    /// * `id`: The id of the operation.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.cancel_bulk_operation("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f").await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `not_found`, `conflict`, `invalid_state_transition`.
    pub async fn cancel_bulk_operation(&self, id: &str) -> Result<Value, Error> {
        let answer = self.call(Method::POST, &format!("/admin/bulk/{}/cancel", segment(id)), Some("{}".into())).await?;
        answer::object(&answer)
    }

    /// The relays that send rows of outboxes to this server, with what each of them said last. An item has `id`,
    /// `name`, `tenant_id`, `database` (its kind), `outbox` (the table), `state` (`running`; `stuck` while a row has
    /// waited for more than a minute; `silent` after 20 seconds without a heartbeat), `leading` (whether it is the
    /// one that sends), `waiting` (rows, with `waiting_relation`: `gte` when there are more than were counted),
    /// `oldest_waiting_ms`, `parked` (rows that the server has refused for good), `sent` since its start,
    /// `sent_per_minute`, `error` (what holds it up), `first_heartbeat_at` and `last_heartbeat_at`. `summary` counts
    /// the relays by state. A relay that stops is forgotten at once, a silent one after 15 minutes. At most 200 of a
    /// tenant are kept, and 1,000 in all.
    ///
    /// ```no_run
    /// # async fn example(client: ojs::Client) -> Result<(), ojs::Error> {
    /// let answer = client.list_relays(&ojs::ListRelays { state: Some("stuck".to_owned()), page: Some(2), per_page: Some(50), ..Default::default() }).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Any error of [`call`](Self::call), in particular `invalid_request`.
    pub async fn list_relays(&self, options: &ListRelays) -> Result<Vec<Value>, Error> {
        let query = query(&[
            ("state", options.state.as_deref()),
            ("page", options.page.map(|value| value.to_string()).as_deref()),
            ("per_page", options.per_page.map(|value| value.to_string()).as_deref()),
        ]);
        let answer = self.call(Method::GET, &format!("/admin/relays{query}"), None).await?;
        answer::list(&answer, &["items"])
    }
}
