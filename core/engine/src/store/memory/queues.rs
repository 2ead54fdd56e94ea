//! Settings of queues in memory.
use ojs_model::JobState;

use super::MemoryTables;
use crate::error::Result;
use crate::features::queue_config::tables::QueueTables;
use crate::kernel::job::JobRow;
use crate::store::rows::QueueRow;
use crate::store::tables::Tables;

impl MemoryTables {
    fn stored_in(&self, queue: i64, state: JobState) -> impl Iterator<Item = &super::Stored> {
        self.jobs.values().filter(move |stored| stored.row.queue == queue && stored.row.state == state)
    }
}

impl QueueTables for MemoryTables {
    fn save_settings(&mut self, queue: &QueueRow) -> Result<()> {
        self.save_queue(queue)
    }

    fn oldest(&mut self, queue: i64, limit: usize) -> Result<Vec<JobRow>> {
        let line = self.ready.range((queue, i32::MIN, i64::MIN, i64::MIN)..(queue + 1, i32::MIN, i64::MIN, i64::MIN));
        let mut line: Vec<(i64, i64)> = line.map(|(_, _, sort_key, seq)| (*sort_key, *seq)).collect();
        line.sort_unstable();
        Ok(self.rows(line.into_iter().take(limit).map(|(_, seq)| seq)))
    }

    fn jobs_in(&mut self, queue: i64, state: JobState, limit: usize) -> Result<Vec<JobRow>> {
        Ok(self.stored_in(queue, state).take(limit).map(|stored| stored.row.clone()).collect())
    }

    fn bytes_in(&mut self, queue: i64, state: JobState) -> Result<i64> {
        let bytes: usize = self.stored_in(queue, state).map(|stored| stored.body.text.len()).sum();
        Ok(i64::try_from(bytes).unwrap_or(i64::MAX))
    }
}
