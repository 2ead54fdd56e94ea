//! The seam between the worker driver and the code that runs handlers: Rust closures here, other languages through
//! `ojs-abi`.
//!
//! The driver hands over *batches* of [`Delivery`] and gets each one back as exactly one outcome: a [`Completion`] is
//! consumed by its answer, and one that is dropped reports itself abandoned, so no job ends in silence.
use std::time::Instant;

use bytes::Bytes;
use tokio::sync::mpsc;

/// Runs handlers. Implemented by the Rust handler table and by the lanes of `ojs-abi`.
///
/// The driver never calls these with a lock held, and an implementation must not call back into the worker.
pub trait Dispatch: Send + Sync + 'static {
    /// Free handler slots. The driver never asks the server for more jobs than this.
    ///
    /// A slot must be free again by the time its outcome is reported: the outcome is what makes the driver look. For any
    /// other growth call [`WorkerHandle::wake`](crate::worker::WorkerHandle::wake).
    fn capacity(&self) -> usize;
    /// Takes ownership of the batch and returns at once.
    fn dispatch(&self, batch: Vec<Delivery>);
    /// Asks the handler of this delivery to stop. It may have finished already.
    fn cancel(&self, key: DeliveryKey, why: CancelReason);
    /// The worker entered a phase; [`Phase::Stopped`] is the last call.
    fn phase(&self, phase: Phase);
    /// The job types that have a handler; `None` when one handler runs every type. Asked once, when the worker starts.
    fn job_types(&self) -> Option<Vec<String>> {
        None
    }
}

/// Identifies one delivery within a worker: the same job delivered twice has two keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeliveryKey(pub u64);

/// One leased job on its way to a handler.
#[derive(Debug)]
pub struct Delivery {
    /// Identifies this delivery in [`Dispatch::cancel`].
    pub key: DeliveryKey,
    /// The job id as the server wrote it.
    pub id: String,
    /// The job type, for finding the handler.
    pub job_type: String,
    /// The queue it was fetched from.
    pub queue: String,
    /// 1 on the first run.
    pub attempt: u32,
    /// When the attempt times out locally, if the job has a time-out.
    pub deadline: Option<Instant>,
    /// The whole job envelope as JSON text, untouched.
    pub envelope: Bytes,
    /// The changes that the arguments go through before the handler sees them, as
    /// [`Versions::path`](crate::worker::Versions::path) numbers them.
    pub transforms: Vec<usize>,
    /// Where the outcome goes.
    pub completion: Completion,
}

/// How a delivery ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The handler returned; `result` is JSON text, `None` for "no result".
    Completed {
        /// JSON text of the result.
        result: Option<Bytes>,
    },
    /// The handler failed.
    Failed(HandlerFailure),
    /// Not run, or not finished, through no fault of its own: give it back without charging an attempt.
    Released,
    /// Run again later without counting a failure.
    Snoozed(std::time::Duration),
    /// The completion was dropped without an answer: the host lost the job.
    Abandoned,
}

/// Why a handler failed, in the terms of a nack (protocol section 4.6).
#[derive(Debug, Clone, PartialEq)]
pub struct HandlerFailure {
    /// Machine-readable code, `handler_error` for an ordinary exception.
    pub code: String,
    /// Name of the exception or error type.
    pub kind: String,
    /// For people; never empty.
    pub message: String,
    /// False ends the job.
    pub retryable: bool,
    /// Anything more, a JSON object.
    pub details: Option<serde_json::Value>,
    /// Stack frames as text.
    pub backtrace: Vec<String>,
}

impl HandlerFailure {
    /// A failure that may be tried again: code `handler_error`.
    pub fn error(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: "handler_error".to_owned(),
            kind: kind.into(),
            message: message.into(),
            retryable: true,
            details: None,
            backtrace: Vec::new(),
        }
    }

    /// This worker has no handler for the type: final, so that the job does not circle for ever ("Implement an
    /// SDK").
    #[must_use]
    pub fn no_handler(job_type: &str) -> Self {
        Self {
            code: "no_handler".to_owned(),
            retryable: false,
            ..Self::error("NoHandler", format!("No handler is registered for job type '{job_type}'."))
        }
    }

    /// A change from one version of the arguments to another has failed. The same arguments would fail again.
    pub fn transform(message: impl Into<String>) -> Self {
        Self { code: "version_transform".to_owned(), retryable: false, ..Self::error("VersionTransform", message) }
    }

    /// The handler panicked, or died in the manner of its language.
    pub fn panic(message: impl Into<String>) -> Self {
        Self { code: "handler_panic".to_owned(), ..Self::error("Panic", message) }
    }

    /// The attempt's time was up. Code and type are those that the server writes when it ends an attempt itself.
    #[must_use]
    pub fn timeout() -> Self {
        Self { code: "timeout".to_owned(), ..Self::error("timeout", "The attempt took longer than timeout_ms.") }
    }
}

/// Why a handler is asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelReason {
    /// The job was cancelled on the server.
    Cancelled,
    /// The lease is lost: another worker has the job.
    LeaseLost,
    /// The attempt's time is up.
    TimedOut,
    /// The worker stops and its grace period is over.
    Shutdown,
}

/// Life of a worker. Never backward, but `Quiet` may return to `Running`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Fetches and runs.
    Running,
    /// Runs what it holds, fetches nothing.
    Quiet,
    /// Finishing what it holds, then stops.
    Draining,
    /// Over: no delivery comes any more, no outcome is accepted.
    Stopped,
}

/// The way back for one outcome.
#[derive(Debug)]
pub struct Completion {
    key: DeliveryKey,
    outcomes: Option<mpsc::UnboundedSender<(DeliveryKey, Outcome)>>,
}

impl Completion {
    /// A completion that reports to `outcomes`.
    #[must_use]
    pub fn new(key: DeliveryKey, outcomes: mpsc::UnboundedSender<(DeliveryKey, Outcome)>) -> Self {
        Self { key, outcomes: Some(outcomes) }
    }

    /// Reports the outcome. Never blocks; after the worker stopped it does nothing.
    pub fn finish(mut self, outcome: Outcome) {
        self.send(outcome);
    }

    fn send(&mut self, outcome: Outcome) {
        if let Some(outcomes) = self.outcomes.take() {
            // A closed channel means the worker is gone: the lease runs out on its own.
            let _ = outcomes.send((self.key, outcome));
        }
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        self.send(Outcome::Abandoned);
    }
}
