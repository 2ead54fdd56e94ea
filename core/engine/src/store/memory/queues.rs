//! Sizes of queues in memory.
use ojs_model::JobState;

use super::MemoryTables;
use crate::error::Result;
use crate::features::queue_config::tables::QueueTables;

impl QueueTables for MemoryTables {
    fn bytes_in(&mut self, queue: i64, state: JobState) -> Result<i64> {
        let bytes: usize = self.stored_in(queue, state).map(|stored| stored.body.text.len()).sum();
        Ok(i64::try_from(bytes).unwrap_or(i64::MAX))
    }
}
