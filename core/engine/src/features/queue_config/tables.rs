//! What stores keep for queues that operators have configured.
use ojs_model::JobState;

use crate::error::Result;
use crate::kernel::job::JobRow;
use crate::store::rows::QueueRow;

/// Rows that queue settings need beside [`Tables`](crate::store::tables::Tables).
pub trait QueueTables {
    /// Writes settings, phase, rate and burst of a queue.
    fn save_settings(&mut self, queue: &QueueRow) -> Result<()>;
    /// Available jobs of a queue in the order of their arrival. Priorities do not count.
    fn oldest(&mut self, queue: i64, limit: usize) -> Result<Vec<JobRow>>;
    /// Jobs of a queue in one state.
    fn jobs_in(&mut self, queue: i64, state: JobState, limit: usize) -> Result<Vec<JobRow>>;
    /// Bytes of the fixed parts of those jobs. Only queues bounded in bytes ask; the time grows with what they hold.
    fn bytes_in(&mut self, queue: i64, state: JobState) -> Result<i64>;
}
