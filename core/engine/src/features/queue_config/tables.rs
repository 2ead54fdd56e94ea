//! What stores keep for queues that operators have configured.
use ojs_model::JobState;

use crate::error::Result;

/// Rows that queue settings need beside [`Tables`](crate::store::tables::Tables).
pub trait QueueTables {
    /// Bytes of the fixed parts of the jobs of a queue in one state. Only queues bounded in bytes ask; the time grows
    /// with what they hold.
    fn bytes_in(&mut self, queue: i64, state: JobState) -> Result<i64>;
}
