//! The answer of an enqueue for one of its jobs.
use ojs_model::Timestamp;

use crate::kernel::job::JobView;

/// A job that was enqueued.
#[derive(Debug, Clone)]
pub struct Placed {
    /// The stored job, or the one that was there already.
    pub job: JobView,
    /// It existed already, and the uniqueness policy is `ignore`.
    pub deduplicated: bool,
    /// It was enqueued with another key, so the caller sees only a part of it.
    pub foreign: bool,
    /// How full its queue is, if that deserves a warning.
    pub pressure: Option<Pressure>,
    /// Warnings of features.
    pub warnings: Vec<String>,
    /// What is left of the limit of its key.
    pub key: Option<KeyState>,
}

/// The state of a key's limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeyState {
    /// The limit.
    pub limit: u64,
    /// What is left of it now.
    pub remaining: u64,
    /// When it is next refilled.
    pub reset: Timestamp,
}

/// How full a bounded queue is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pressure {
    /// Jobs that wait.
    pub depth: u64,
    /// Most jobs that may wait.
    pub bound: u64,
}
