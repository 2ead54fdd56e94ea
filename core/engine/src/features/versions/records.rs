//! Which queues have had jobs with a version, and the lines of versions as stores keep them.
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Result;
use crate::kernel::job::Line;
use crate::store::record::{Change, Read, RecordTables, Records, Scan, record};

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
        /// When the server takes a version out of them: a JSON object; empty for never.
        pub rollback: String = "",
        /// The versions that it has taken out: a JSON array; empty for none.
        pub rolled_back: String = "",
    }
}

/// Attempts of a transaction, by job type and version: how many, and how many of them failed.
pub(crate) type Attempts = BTreeMap<(Arc<str>, i64), (i64, i64)>;

record! {
    /// Attempts of a version whose job type has rules that the server may change, in a part of the time that it looks
    /// at.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct TallyRow in "route_tallies" {
        key ("job_type", "version", "since");
        index SINCE = "route_tallies_since" ("since");
        /// The job type.
        pub job_type: String,
        /// As `JobRow::version`.
        pub version: i64,
        /// When the part begins, milliseconds.
        pub since: i64,
        /// Attempts that have completed or failed.
        pub attempts: i64,
        /// Those that have failed.
        pub failed: i64,
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

    /// The rules of a job type, to be changed: other writers wait with theirs.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn hold_route(&mut self, job_type: &str) -> Result<Option<RouteRow>> {
        Records::of(self).find(RouteRow::KEY, &job_type, Read::Held)
    }

    /// Adds attempts to those of a version since a time, in milliseconds.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn add_attempts(&mut self, added: &TallyRow) -> Result<()> {
        let mut tallies = Records::<TallyRow, _>::of(self);
        let key = (added.job_type.as_str(), added.version, added.since);
        let known = tallies.find(TallyRow::KEY, &key, Read::Reserved)?;
        let (attempts, failed) = known.map_or((0, 0), |known| (known.attempts, known.failed));
        tallies.put(&TallyRow { attempts: attempts + added.attempts, failed: failed + added.failed, ..added.clone() })
    }

    /// Attempts of a version since a time, and how many of them failed.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn attempts_since(&mut self, job_type: &str, version: i64, since: i64) -> Result<(i64, i64)> {
        let key = (job_type, version);
        let rows: Vec<TallyRow> = Records::of(self).scan(&Scan::over(TallyRow::KEY).under(&key).from(&since))?;
        Ok(rows.iter().fold((0, 0), |(attempts, failed), row| (attempts + row.attempts, failed + row.failed)))
    }

    /// Forgets the attempts of a job type.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn forget_attempts(&mut self, job_type: &str) -> Result<()> {
        Records::<TallyRow, _>::of(self).change(&[Change::Remove(Scan::over(TallyRow::KEY).under(&job_type))])
    }

    /// Forgets the attempts of all job types before a time, in milliseconds.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn forget_attempts_before(&mut self, time: i64) -> Result<()> {
        Records::<TallyRow, _>::of(self).change(&[Change::Remove(Scan::over(TallyRow::SINCE).below(&time))])
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
}
