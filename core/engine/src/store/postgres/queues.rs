//! Settings of queues in PostgreSQL.
use ojs_model::JobState;

use super::rows::get;
use super::{PostgresTables, limit};
use crate::error::Result;
use crate::features::queue_config::tables::QueueTables;
use crate::kernel::job::JobRow;
use crate::store::rows::QueueRow;

impl QueueTables for PostgresTables {
    fn save_settings(&mut self, queue: &QueueRow) -> Result<()> {
        self.names.keep_queue(queue);
        let (config, effective) = queue.settings.texts();
        let phase = queue.phase as i64;
        self.execute(
            sql!("save_settings"),
            &[&queue.num, &queue.paused, &queue.rate, &queue.tokens, &queue.filled_at, &queue.burst, &phase, &config, &effective],
        )?;
        self.new_epoch()
    }

    fn oldest(&mut self, queue: i64, count: usize) -> Result<Vec<JobRow>> {
        self.job_rows(sql!("oldest"), &[&queue, &limit(count)])
    }

    fn jobs_in(&mut self, queue: i64, state: JobState, count: usize) -> Result<Vec<JobRow>> {
        self.job_rows(sql!("waiting"), &[&queue, &(state as i64), &limit(count)])
    }

    fn bytes_in(&mut self, queue: i64, state: JobState) -> Result<i64> {
        self.flush()?;
        let rows = self.query(sql!("waiting_bytes"), &[&queue, &(state as i64)])?;
        rows.first().map_or(Ok(0), |row| get(row, 0))
    }
}
