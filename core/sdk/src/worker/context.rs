//! What a handler sees of its job.
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::handle::Beat;
use super::shared::Shared;
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

    /// Reads all arguments: a tuple or `Vec` by position, a struct from a single object.
    ///
    /// # Errors
    /// [`Error::Serialization`] when they do not fit.
    pub fn args<T: DeserializeOwned>(&self) -> Result<T, Error> {
        #[derive(serde::Deserialize)]
        struct Args<'a> {
            #[serde(borrow)]
            args: Option<&'a RawValue>,
        }
        let envelope: Args<'_> = serde_json::from_slice(&self.inner.envelope).map_err(|e| Error::json("job", e))?;
        job::read_args(envelope.args.map_or("[]", RawValue::get).as_bytes())
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

    /// Extends the lease now. The worker does so on its own every few seconds; this also asks whether to go on.
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

    /// Sets the result, for handlers that return `()`. What a handler returns wins.
    ///
    /// # Errors
    /// [`Error::Serialization`] when it cannot be written as JSON.
    pub fn set_result<R: Serialize + ?Sized>(&self, result: &R) -> Result<(), Error> {
        *lock(&self.inner.result) = Some(Json::new(result)?);
        Ok(())
    }

    /// Leaves a value for inner layers and the handler.
    pub fn set(&self, name: impl Into<String>, value: impl Into<Value>) {
        lock(&self.inner.metadata).insert(name.into(), value.into());
    }

    /// A value that an outer layer has left.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value> {
        lock(&self.inner.metadata).get(name).cloned()
    }

    /// Resolves when the handler should stop; see [`cancel_reason`](Self::cancel_reason).
    pub async fn cancelled(&self) {
        self.inner.cancel.cancelled().await;
    }

    /// Why the handler should stop; `None` while it may go on.
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
