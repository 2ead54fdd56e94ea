//! Checkpoints as stores keep them.
use ojs_model::JobId;

use crate::error::Result;
use crate::store::record::{RecordTables, Records, record};

record! {
    /// The checkpoint of a job. A job that has one has [`flag::CHECKPOINT`](crate::kernel::job::flag::CHECKPOINT).
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct CheckpointRow in "checkpoints" {
        key ("job");
        /// The job.
        pub job: JobId,
        /// 1 for the first save, and larger with every further one.
        pub sequence: i64,
        /// What was saved, JSON text as it was sent.
        pub state: String,
        /// When, milliseconds.
        pub created_at: i64,
        /// It came within a report of progress.
        pub by_report: bool,
    }
}

/// Checkpoints.
pub trait CheckpointTables: RecordTables {
    /// The checkpoint of a job.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn checkpoint(&mut self, job: JobId) -> Result<Option<CheckpointRow>> {
        Records::of(self).get(&job)
    }

    /// Writes a checkpoint in place of the one before.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn put_checkpoint(&mut self, row: &CheckpointRow) -> Result<()> {
        Records::of(self).put(row)
    }

    /// Removes the checkpoint of a job, if there is one.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn delete_checkpoint(&mut self, job: JobId) -> Result<()> {
        Records::<CheckpointRow, _>::of(self).delete(&job)
    }
}

impl<T: RecordTables + ?Sized> CheckpointTables for T {}
