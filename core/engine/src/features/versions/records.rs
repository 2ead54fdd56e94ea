//! Which queues have had jobs with a version, and the lines of versions as stores keep them.
use crate::error::Result;
use crate::kernel::job::{Body, JobRow, Line};
use crate::store::record::{RecordTables, Records, Scan, record};

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

/// Most job types that have rules: every connection keeps them in memory.
pub const MAX_ROUTED: usize = 1_000;

record! {
    /// Which versions the jobs of a type get that name none.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RouteRow in "routes" {
        key ("job_type");
        remember Everything;
        /// The job type.
        pub job_type: String,
        /// JSON array of objects with `version` and `weight`.
        pub rules: String,
        /// When they were set, milliseconds.
        pub updated_at: i64,
    }
}

/// Rules of job types.
pub trait RouteTables: RecordTables {
    /// The rules of a job type. Connections keep them in memory.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn route(&mut self, job_type: &str) -> Result<Option<RouteRow>> {
        Records::of(self).get(&job_type)
    }

    /// Whether any job type has rules; asked for at every enqueue.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn has_routes(&mut self) -> Result<bool> {
        Records::<RouteRow, _>::of(self).has_any()
    }

    /// How many job types have rules.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn count_routes(&mut self) -> Result<usize> {
        Records::<RouteRow, _>::of(self).count(&Scan::over(RouteRow::KEY))
    }

    /// Writes the rules of a job type.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn put_route(&mut self, row: &RouteRow) -> Result<()> {
        Records::of(self).put(row)
    }

    /// Deletes the rules of a job type.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn delete_route(&mut self, job_type: &str) -> Result<()> {
        Records::<RouteRow, _>::of(self).delete(&job_type)
    }
}

impl<T: RecordTables + ?Sized> RouteTables for T {}

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
