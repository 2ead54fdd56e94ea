//! Records that are due, in memory.
use ojs_model::JobId;

use super::MemoryTables;
use crate::error::Result;
use crate::store::due::{Due, When};
use crate::store::record::{Field, RecordTables, Scan};

impl MemoryTables {
    /// Whether there are records of a declaration that are due.
    pub(super) fn has_due(&mut self, due: &Due, now: i64, silent_since: i64) -> Result<bool> {
        let at = Scan::over(due.index);
        let until = match due.when {
            When::Reached => now,
            When::Silent => silent_since,
            When::Ended(job) => return self.has_ended_job(due, job),
        };
        let mut found = false;
        self.scan_records(due.table, &at.to(&until).limit(1), false, &mut |_| {
            found = true;
            Ok(())
        })?;
        Ok(found)
    }

    /// Whether the job in this column of any record has ended, or is gone.
    fn has_ended_job(&mut self, due: &Due, job: &str) -> Result<bool> {
        let place = due.table.column(job).map_or(0, |(place, _)| place);
        let mut jobs: Vec<Option<JobId>> = Vec::new();
        self.scan_records(due.table, &Scan::over(due.index), false, &mut |row| {
            jobs.push(JobId::read(row.cell(place)?));
            Ok(())
        })?;
        let stored = |id: JobId| self.ids.get(&id).and_then(|seq| self.jobs.get(seq));
        Ok(jobs.into_iter().any(|id| id.and_then(stored).is_none_or(|stored| stored.row.state.is_terminal())))
    }
}
