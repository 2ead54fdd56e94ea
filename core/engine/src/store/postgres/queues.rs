//! Sizes of queues in PostgreSQL.
use ojs_model::JobState;

use super::PostgresTables;
use super::rows::get;
use crate::error::Result;
use crate::features::queue_config::tables::QueueTables;

impl QueueTables for PostgresTables {
    fn bytes_in(&mut self, queue: i64, state: JobState) -> Result<i64> {
        self.flush()?;
        let rows = self.query(sql!("waiting_bytes"), &[&queue, &(state as i64)])?;
        rows.first().map_or(Ok(0), |row| get(row, 0))
    }
}
