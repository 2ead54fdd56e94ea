//! The event log as a whole: its first and last place, and the place of a time.
use crate::error::Result;
use crate::kernel::event::Place;

/// The event log's extent.
pub trait LogTables {
    /// Numbers of the oldest batch kept and of the newest ever written; `(0, 0)` for a log that was never written to.
    /// When all have been pruned, the oldest is the one to come.
    fn log_span(&mut self) -> Result<(i64, i64)>;

    /// Number of the newest batch that readers may start after: no batch with a smaller number can come any more. With
    /// several writers newer batches may be there already, and one that is missing between them may still come.
    ///
    /// # Errors
    /// Those of [`log_span`](Self::log_span); [`StoreError::Conflict`](crate::error::StoreError::Conflict) when it is
    /// known in the next transaction.
    fn log_end(&mut self) -> Result<i64> {
        Ok(self.log_span()?.1)
    }
}

/// What a reader needs to know of the log before it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Oldest batch that is still kept.
    pub oldest: i64,
    /// Where a reader of coming events begins: no event can come before it.
    pub end: Place,
    /// After everything written so far: no event has a later place.
    pub written: Place,
    /// Before the first event at or after the time asked for; the end when none was asked for.
    pub at: Place,
}
