//! The event log as a whole: its first and last place, and the place of a time.
use crate::error::Result;
use crate::kernel::event::Place;

/// The event log's extent.
pub trait LogTables {
    /// Numbers of the oldest batch kept and of the newest ever written; `(0, 0)` for a log that was never written to.
    /// When all have been pruned, the oldest is the one to come.
    fn log_span(&mut self) -> Result<(i64, i64)>;
}

/// What a reader needs to know of the log before it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Oldest batch that is still kept.
    pub oldest: i64,
    /// Behind everything written so far.
    pub end: Place,
    /// Before the first event at or after the time asked for; the end when none was asked for.
    pub at: Place,
}
