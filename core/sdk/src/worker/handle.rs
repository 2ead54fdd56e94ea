//! The handle of a running worker: quiet, resume, stop, wait.
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast;

use super::durable::Change;
use super::event::WorkerEvent;
use super::reports::Progress;
use super::shared::Shared;
use crate::dispatch::{CancelReason, DeliveryKey, Phase};
use crate::error::Error;
use crate::json::Json;

/// Controls a running worker. Cheap to clone; dropping it does not stop the worker.
#[derive(Clone)]
pub struct WorkerHandle {
    pub(super) shared: Arc<Shared>,
}

/// The answer to a heartbeat sent by a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beat {
    /// The lease was extended.
    Continue,
    /// The handler should stop.
    Cancelled(CancelReason),
}

impl WorkerHandle {
    /// The worker's name, as the server knows it.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.shared.worker_id
    }

    /// The phase the worker is in.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.shared.phase()
    }

    /// How many jobs the worker holds, those whose outcome is still on its way included.
    #[must_use]
    pub fn held(&self) -> usize {
        self.shared.held_count()
    }

    /// Stops fetching; running handlers and heartbeats continue. Has no effect once the worker is draining.
    pub fn quiet(&self) {
        self.shared.quiet();
    }

    /// Fetches again after [`quiet`](Self::quiet). Does nothing once the worker is draining.
    pub fn resume(&self) {
        self.shared.resume();
    }

    /// Stops gracefully and returns at once; [`wait`](Self::wait) returns when it is over. Handlers may finish for
    /// `grace` (`None`: the option's value), then they are cancelled and their jobs released. A second call ends the
    /// grace period at once.
    pub fn stop(&self, grace: Option<Duration>) {
        self.shared.stop(grace);
    }

    /// Waits until the worker has stopped. May be called by any number of tasks.
    pub async fn wait(&self) {
        self.shared.stopped().await;
    }

    /// Stops gracefully and waits.
    pub async fn shutdown(&self, grace: Option<Duration>) {
        self.stop(grace);
        self.wait().await;
    }

    /// Extends the lease of one delivery now, without waiting for the worker's own next heartbeat.
    ///
    /// # Errors
    /// [`Error::NotHeld`] when its outcome was reported already, or the error of the request.
    pub async fn heartbeat(&self, key: DeliveryKey) -> Result<Beat, Error> {
        self.shared.heartbeat_one(key).await
    }

    /// Reports the progress of a delivery. Must be called within a tokio runtime; returns at once. See
    /// [`JobContext::progress`](super::JobContext::progress).
    pub fn progress(&self, key: DeliveryKey, progress: Progress) {
        self.shared.report(key, progress);
    }

    /// Saves the checkpoint of a delivery, or the result of one of its steps when `step` names one; the sequence of the
    /// checkpoint.
    ///
    /// # Errors
    /// [`Error::NotHeld`] when the lease is lost, or the error of the request.
    pub async fn save(&self, key: DeliveryKey, step: Option<String>, value: Json) -> Result<u64, Error> {
        let change = match step {
            Some(name) => Change::Step(name, value),
            None => Change::State(value),
        };
        self.shared.save(key, change).await
    }

    /// The checkpoint of a delivery, or the result of one of its steps; `None` when it has none.
    ///
    /// # Errors
    /// [`Error::NotHeld`] when its outcome was reported already.
    pub fn saved(&self, key: DeliveryKey, step: Option<&str>) -> Result<Option<Json>, Error> {
        let (_, durable) = self.shared.durable(key)?;
        Ok(match step {
            Some(name) => durable.step(name),
            None => durable.state(),
        })
    }

    /// Tells the worker that [`Dispatch::capacity`](crate::dispatch::Dispatch::capacity) has grown for a reason other than a finished job.
    pub fn wake(&self) {
        self.shared.wake();
    }

    /// Subscribes to what happens in the worker from now on. A subscriber that is too slow loses the oldest events.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<WorkerEvent> {
        self.shared.events.subscribe()
    }
}

impl std::fmt::Debug for WorkerHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkerHandle").field("id", &self.id()).field("phase", &self.phase()).field("held", &self.held()).finish()
    }
}
