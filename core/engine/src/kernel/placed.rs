//! What an enqueue answers for each of its jobs.
use ojs_model::Timestamp;

use crate::kernel::job::JobView;

/// A job that was enqueued.
#[derive(Debug, Clone)]
pub struct Placed {
    /// The stored job, or the one that was there already.
    pub job: JobView,
    /// It was there already: a uniqueness policy of `ignore`.
    pub deduplicated: bool,
    /// It belongs to another key, and the caller may see little of it.
    pub foreign: bool,
    /// How full its queue is, when that is worth a warning.
    pub pressure: Option<Pressure>,
    /// What features warn of.
    pub warnings: Vec<String>,
    /// What its key has left.
    pub key: Option<KeyState>,
}

/// What a key has left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeyState {
    /// Its size.
    pub limit: u64,
    /// What is left of it now.
    pub remaining: u64,
    /// When there is more.
    pub reset: Timestamp,
}

/// How full a bounded queue is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pressure {
    /// Jobs that wait.
    pub depth: u64,
    /// Most that may.
    pub bound: u64,
}
