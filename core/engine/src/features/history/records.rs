//! Deleted histories as stores keep them: up to when the history of a job is not shown any more.
use ojs_model::JobId;

use crate::error::Result;
use crate::store::record::{RecordTables, Records, Scan, record};

record! {
    /// The history of a job was deleted. Such a job has [`flag::CUT`](crate::kernel::job::flag::CUT).
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct CutRow in "history_cuts" {
        key ("job");
        /// The job.
        pub job: JobId,
        /// What happened up to this time is not shown, milliseconds.
        pub until: i64,
        /// How often workers had given the job back by then.
        pub releases: i64,
    }
}

/// Deleted histories.
pub trait HistoryTables: RecordTables {
    /// Up to when the history of a job is deleted.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn history_cut(&mut self, job: JobId) -> Result<Option<CutRow>> {
        Records::of(self).get(&job)
    }

    /// The same for several jobs, in no order. A job whose history was not deleted is left out.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn history_cuts(&mut self, jobs: &[JobId]) -> Result<Vec<CutRow>> {
        Records::of(self).find_all(CutRow::KEY, jobs)
    }

    /// Whether any history was deleted.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn has_history_cuts(&mut self) -> Result<bool> {
        Ok(Records::<CutRow, _>::of(self).count(&Scan::over(CutRow::KEY).limit(1))? > 0)
    }

    /// Notes that a history was deleted, again or for the first time.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn put_history_cut(&mut self, row: &CutRow) -> Result<()> {
        Records::of(self).put(row)
    }

    /// Deletes the record. It is called when the job is deleted.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn forget_history_cut(&mut self, job: JobId) -> Result<()> {
        Records::<CutRow, _>::of(self).delete(&job)
    }
}

impl<T: RecordTables + ?Sized> HistoryTables for T {}
