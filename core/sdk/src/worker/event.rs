//! Events inside a worker, typed: for tests, metrics and logs.
use std::sync::Arc;

use crate::dispatch::{CancelReason, Phase};
use crate::error::Error;

/// Something that happened in a worker. Arguments and results of jobs never appear here.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum WorkerEvent {
    /// The worker entered a phase.
    Phase(Phase),
    /// The server refused to hand out jobs, or was not reached. The worker tries again.
    FetchFailed(Arc<Error>),
    /// A heartbeat failed. The worker's state does not change.
    HeartbeatFailed(Arc<Error>),
    /// An outcome could not be delivered and will be tried again.
    OutcomeDelayed {
        /// The job.
        job_id: String,
        /// Why.
        error: Arc<Error>,
    },
    /// An outcome was given up: the server refused it, or the lease ran out before it could be delivered.
    OutcomeLost {
        /// The job.
        job_id: String,
        /// Why.
        error: Arc<Error>,
    },
    /// A handler was asked to stop.
    Cancelled {
        /// The job.
        job_id: String,
        /// Why.
        reason: CancelReason,
    },
    /// Jobs went back to the server unfinished when the grace period ended.
    Released {
        /// How many.
        jobs: usize,
    },
    /// Part of the worker panicked and was started again.
    Restarted {
        /// Which part.
        part: &'static str,
        /// The panic's message.
        message: String,
    },
}
