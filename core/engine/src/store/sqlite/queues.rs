//! Settings of queues in SQLite.
use ojs_model::JobState;
use rusqlite::params;

use super::SqliteTables;
use crate::error::Result;
use crate::features::queue_config::tables::QueueTables;
use crate::kernel::job::JobRow;
use crate::store::rows::QueueRow;

impl QueueTables for SqliteTables {
    fn save_settings(&mut self, queue: &QueueRow) -> Result<()> {
        self.keep_queue(queue);
        let (config, effective) = queue.settings.texts();
        let params = params![
            queue.num,
            queue.paused,
            queue.rate,
            queue.tokens,
            queue.filled_at,
            queue.burst,
            queue.phase as u8,
            config,
            effective
        ];
        self.execute(sql!("save_settings"), params).map(drop)
    }

    fn oldest(&mut self, queue: i64, limit: usize) -> Result<Vec<JobRow>> {
        self.job_rows(sql!("oldest"), params![queue, limit])
    }

    fn jobs_in(&mut self, queue: i64, state: JobState, limit: usize) -> Result<Vec<JobRow>> {
        self.job_rows(sql!("waiting"), params![queue, state as u8, limit])
    }

    fn bytes_in(&mut self, queue: i64, state: JobState) -> Result<i64> {
        let mut statement = self.statement(sql!("waiting_bytes"))?;
        Ok(statement.query_row(params![queue, state as u8], |row| row.get(0))?)
    }
}
