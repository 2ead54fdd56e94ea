//! Which queues have had jobs with a version, and the lines of versions as stores keep them.
use crate::error::Result;
use crate::kernel::job::{Body, JobRow, Line};
use crate::store::record::{RecordTables, Records, record};

record! {
    /// A queue that has had jobs with a version. Claims look for versions in such queues only.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct VersionedQueue in "versioned_queues" {
        key ("queue");
        remember Everything;
        /// Number of the queue.
        pub queue: i64,
        /// When the first such job came, milliseconds.
        pub since: i64,
    }
}

/// Queues that have had jobs with a version.
pub trait VersionedTables: RecordTables {
    /// Whether a queue has had jobs with a version. Connections keep the answer in memory.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn has_versions(&mut self, queue: i64) -> Result<bool> {
        let row: Option<VersionedQueue> = Records::of(self).get(&queue)?;
        Ok(row.is_some())
    }

    /// Notes the first job with a version.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn note_versions(&mut self, queue: i64, since: i64) -> Result<()> {
        // Another writer may have been faster: then it is noted.
        Records::of(self).insert(&VersionedQueue { queue, since }).map(drop)
    }
}

impl<T: RecordTables + ?Sized> VersionedTables for T {}

/// Lines of versions. Both see what their own transaction has changed.
pub trait VersionTables {
    /// The lines of versions that have available jobs in a queue, held ones included. It costs one look-up for each
    /// line, however many jobs stand in it.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn version_lines(&mut self, queue: i64) -> Result<Vec<Line>>;

    /// Jobs at the heads of these lines that are free to start: at most `limit` of each line, in no order.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn version_ready(&mut self, lines: &[Line], limit: usize) -> Result<Vec<(JobRow, Body)>>;
}
