//! The context of a handler: its job, and what it can do for it.
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::durable::{Change, Durable};
use super::handle::Beat;
use super::reports::Progress;
use super::result::HandlerError;
use super::shared::Shared;
use crate::client::Client;
use crate::dispatch::{CancelReason, Delivery, DeliveryKey};
use crate::error::Error;
use crate::job::{self, Job, JobTrain};
use crate::json::Json;

/// One run of a job. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct JobContext {
    inner: Arc<Inner>,
}

struct Inner {
    key: DeliveryKey,
    id: String,
    job_type: String,
    queue: String,
    attempt: u32,
    envelope: Bytes,
    /// Parsed when first asked for: many handlers need nothing but their arguments.
    job: OnceLock<Job>,
    result: Mutex<Option<Json>>,
    metadata: Mutex<Map<String, Value>>,
    cancel: CancellationToken,
    reason: OnceLock<CancelReason>,
    /// Weak: the worker holds the handlers that hold this.
    worker: Weak<Shared>,
    /// State of a run without a worker, as in tests.
    alone: OnceLock<Durable>,
}

impl JobContext {
    pub(super) fn new(delivery: &mut Delivery, worker: Weak<Shared>) -> Self {
        let inner = Inner {
            key: delivery.key,
            id: std::mem::take(&mut delivery.id),
            job_type: std::mem::take(&mut delivery.job_type),
            queue: std::mem::take(&mut delivery.queue),
            attempt: delivery.attempt,
            envelope: std::mem::take(&mut delivery.envelope),
            job: OnceLock::new(),
            result: Mutex::new(None),
            metadata: Mutex::new(Map::new()),
            cancel: CancellationToken::new(),
            reason: OnceLock::new(),
            worker,
            alone: OnceLock::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The job's id: the same in every attempt.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.inner.id
    }

    /// Its type.
    #[must_use]
    pub fn job_type(&self) -> &str {
        &self.inner.job_type
    }

    /// The queue it came from.
    #[must_use]
    pub fn queue(&self) -> &str {
        &self.inner.queue
    }

    /// 1 on the first run.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.inner.attempt
    }

    /// The worker that runs it, as the server knows it; `None` once it has stopped.
    #[must_use]
    pub fn worker_id(&self) -> Option<String> {
        self.inner.worker.upgrade().map(|worker| worker.worker_id.clone())
    }

    /// The whole job.
    #[must_use]
    pub fn job(&self) -> &Job {
        self.inner.job.get_or_init(|| Job::parse(self.inner.envelope.clone()).unwrap_or_default())
    }

    /// The tenant that the job belongs to; `None` when it names none.
    #[must_use]
    pub fn tenant(&self) -> Option<String> {
        self.job().tenant()
    }

    /// A client on the connection of the worker, for jobs that the handler enqueues. It acts for the tenant of this job
    /// and sees only what belongs to that tenant. It has no middleware.
    ///
    /// # Errors
    /// [`Error::NotHeld`] once the worker has stopped.
    pub fn client(&self) -> Result<Client, Error> {
        let worker = self.inner.worker.upgrade().ok_or(Error::NotHeld)?;
        let client = Client::new(Arc::clone(&worker.transport));
        match self.tenant() {
            Some(tenant) => client.of_tenant(&tenant),
            None => Ok(client),
        }
    }

    /// Reads all arguments: a tuple or `Vec` by position, a struct from a single object.
    ///
    /// # Errors
    /// [`Error::Serialization`] when they do not fit.
    pub fn args<T: DeserializeOwned>(&self) -> Result<T, Error> {
        // It was parsed when it was delivered.
        let envelope = std::str::from_utf8(&self.inner.envelope).unwrap_or_default();
        job::read_args(ojs_model::json::member(envelope, "args").unwrap_or("[]").as_bytes())
    }

    /// Reads one argument by position.
    ///
    /// # Errors
    /// [`Error::Validation`] when there is none, [`Error::Serialization`] when it does not fit.
    pub fn arg<T: DeserializeOwned>(&self, index: usize) -> Result<T, Error> {
        self.job().arg(index)
    }

    /// Results of the earlier steps of a workflow, in order; `None` outside of workflows.
    #[must_use]
    pub fn parent_results(&self) -> Option<&Json> {
        self.job().parent_results.as_ref()
    }

    /// The workflow this job is part of.
    #[must_use]
    pub fn workflow_id(&self) -> Option<&str> {
        self.job().workflow_id.as_deref()
    }

    /// The job's place in its train; `None` when it runs in none.
    #[must_use]
    pub fn train(&self) -> Option<&JobTrain> {
        self.job().train.as_ref()
    }

    /// Extends the lease now. The worker does so every few seconds by itself; the answer also says whether the handler
    /// should stop.
    ///
    /// # Errors
    /// [`Error::NotHeld`] when the run is over (it timed out), or the error of the request.
    pub async fn heartbeat(&self) -> Result<Beat, Error> {
        if let Some(reason) = self.cancel_reason() {
            return Ok(Beat::Cancelled(reason));
        }
        let worker = self.inner.worker.upgrade().ok_or(Error::NotHeld)?;
        worker.heartbeat_one(self.inner.key).await
    }

    /// Reports the progress of the run: a fraction from 0 to 1, and a sentence for people. Returns at once; of many
    /// reports only the latest is sent, a few a second at most. A lost report does not harm the job.
    ///
    /// ```
    /// # fn handler(ctx: &ojs::JobContext) {
    /// ctx.progress(0.4, "Importing page 4 of 10");
    /// ctx.progress(0.5, None);
    /// # }
    /// ```
    pub fn progress<'a>(&self, fraction: f64, message: impl Into<Option<&'a str>>) {
        let message = message.into().map(str::to_owned);
        self.report(Progress { fraction: Some(fraction), message, data: None });
    }

    /// The same with data of the application.
    pub fn report(&self, progress: Progress) {
        if let Some(worker) = self.inner.worker.upgrade() {
            worker.report(self.inner.key, progress);
        }
    }

    /// Saves a checkpoint, which replaces the previous one, and returns its sequence number. It is on the server's disk
    /// when this returns, and every later attempt of the job begins with it. At most 1 MiB.
    ///
    /// ```
    /// # async fn handler(ctx: ojs::JobContext) -> Result<(), ojs::HandlerError> {
    /// let first: u32 = ctx.load_checkpoint()?.unwrap_or(0);
    /// for page in first..10 {
    ///     // … import the page …
    ///     ctx.checkpoint(&(page + 1)).await?;
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotHeld`] when the lease is lost, [`Error::Serialization`] when the state cannot be written as JSON,
    /// or the error of the request.
    pub async fn checkpoint<S: Serialize + ?Sized>(&self, state: &S) -> Result<u64, Error> {
        self.save(Change::State(Json::named("checkpoint", state)?)).await
    }

    /// The latest checkpoint of this run or an earlier attempt; `None` when there is none.
    ///
    /// # Errors
    /// [`Error::Serialization`] when it does not fit, [`Error::NotHeld`] when the run is over.
    pub fn load_checkpoint<S: DeserializeOwned>(&self) -> Result<Option<S>, Error> {
        let state = match self.inner.worker.upgrade() {
            Some(worker) => worker.durable(self.inner.key)?.1.state(),
            None => self.alone().state(),
        };
        state.map(|state| state.parse()).transpose()
    }

    /// Whether there is a checkpoint to continue from.
    #[must_use]
    pub fn has_checkpoint(&self) -> bool {
        matches!(self.load_checkpoint::<serde::de::IgnoredAny>(), Ok(Some(_)))
    }

    /// Runs a step once across all attempts of the job: the first run saves its result with the checkpoint, later
    /// attempts get that result and do not run the step. After a crash between the end of the step and the answer of
    /// the server it runs again, so give the services that it calls the id of the job and the name of the step as an
    /// idempotency key.
    ///
    /// ```
    /// # async fn charge(_: &str) -> Result<String, ojs::HandlerError> { Ok("ch_1".into()) }
    /// # async fn handler(ctx: ojs::JobContext) -> Result<(), ojs::HandlerError> {
    /// let id: String = ctx.step("charge", || charge(ctx.id())).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The error of the step, which is not saved; the errors of [`checkpoint`](Self::checkpoint).
    pub async fn step<T, F, Fut>(&self, name: &str, run: F) -> Result<T, HandlerError>
    where
        T: Serialize + DeserializeOwned,
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, HandlerError>>,
    {
        let stored = match self.inner.worker.upgrade() {
            Some(worker) => worker.durable(self.inner.key)?.1.step(name),
            None => self.alone().step(name),
        };
        if let Some(stored) = stored {
            return Ok(stored.parse()?);
        }
        let result = run().await?;
        self.save(Change::Step(name.to_owned(), Json::named("step", &result)?)).await?;
        Ok(result)
    }

    async fn save(&self, change: Change) -> Result<u64, Error> {
        match self.inner.worker.upgrade() {
            Some(worker) => worker.save(self.inner.key, change).await,
            None => self.alone().change(change, async |_| Ok(0)).await,
        }
    }

    fn alone(&self) -> &Durable {
        self.inner.alone.get_or_init(|| {
            let saved = self.job().attribute("checkpoint").and_then(|saved| serde_json::value::to_raw_value(&saved).ok());
            Durable::delivered(saved.as_deref())
        })
    }

    /// Sets the result, for handlers that return `()`. What a handler returns wins.
    ///
    /// # Errors
    /// [`Error::Serialization`] when it cannot be written as JSON.
    pub fn set_result<R: Serialize + ?Sized>(&self, result: &R) -> Result<(), Error> {
        *lock(&self.inner.result) = Some(Json::named("result", result)?);
        Ok(())
    }

    /// Sets a value for inner layers and the handler.
    pub fn set(&self, name: impl Into<String>, value: impl Into<Value>) {
        lock(&self.inner.metadata).insert(name.into(), value.into());
    }

    /// A value that an outer layer has set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value> {
        lock(&self.inner.metadata).get(name).cloned()
    }

    /// Resolves when the handler should stop; see [`cancel_reason`](Self::cancel_reason).
    pub async fn cancelled(&self) {
        self.inner.cancel.cancelled().await;
    }

    /// Why the handler should stop; `None` while it may continue.
    #[must_use]
    pub fn cancel_reason(&self) -> Option<CancelReason> {
        self.inner.reason.get().copied()
    }

    /// A token for APIs that take one.
    #[must_use]
    pub fn cancellation_token(&self) -> &CancellationToken {
        &self.inner.cancel
    }

    pub(super) fn cancel(&self, reason: CancelReason) {
        // The first reason counts.
        let _ = self.inner.reason.set(reason);
        self.inner.cancel.cancel();
    }

    pub(super) fn take_result(&self) -> Option<Json> {
        lock(&self.inner.result).take()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for JobContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobContext")
            .field("id", &self.id())
            .field("job_type", &self.job_type())
            .field("attempt", &self.attempt())
            .finish_non_exhaustive()
    }
}
