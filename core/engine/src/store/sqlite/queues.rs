//! Sizes of queues in SQLite.
use ojs_model::JobState;
use rusqlite::params;

use super::SqliteTables;
use crate::error::Result;
use crate::features::queue_config::tables::QueueTables;

impl QueueTables for SqliteTables {
    fn bytes_in(&mut self, queue: i64, state: JobState) -> Result<i64> {
        Ok(self.one(sql!("waiting_bytes"), params![queue, state as u8], |row| Ok(row.get(0)?))?.unwrap_or(0))
    }
}
