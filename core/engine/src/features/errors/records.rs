//! Error groups as stores keep them: one row for each fingerprint, queue, job type and tenant.
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use ojs_model::JobId;
use sha2::{Digest, Sha256};

pub use super::fingerprint::fingerprint;
use crate::error::Result;
use crate::store::record::{Cell, Codec, Key as _, Kind, Lookup, Read, Reader, Record as _, RecordTables, Records, Scan, record};

/// Most rows of a store. With more, those go whose last failure is the longest ago.
pub const MAX_ROWS: usize = 2_000;
/// Jobs that a row names: those that failed last.
pub const MAX_JOBS: usize = 50;
/// Characters that are kept of a message.
pub const MAX_MESSAGE: usize = 500;
/// How long a row is kept after its last failure, milliseconds: as long as the figures by hours.
pub const KEEP_MS: i64 = 30 * 24 * 3_600_000;
/// Rows that one prune removes at most.
const SLICE: usize = 500;

record! {
    /// Failures of one fingerprint, of jobs of one tenant, queue and type.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ErrorRow in "error_groups" {
        key ("id");
        index LAST = "error_groups_last" ("last_at");
        index FINGERPRINT = "error_groups_fingerprint" ("fingerprint");
        index TENANT = "error_groups_tenant" ("tenant");
        /// Made of tenant, fingerprint, queue and type: see [`id_of`](Self::id_of).
        pub id: String,
        /// Number of the tenant; 0 is the default one.
        pub tenant: i64,
        /// What the errors have in common: see [`fingerprint`].
        pub fingerprint: String,
        /// Name of the queue.
        pub queue: String,
        /// The job type.
        pub job_type: String,
        /// Type of the errors.
        pub error_type: String,
        /// Message of the last one, cut off behind [`MAX_MESSAGE`] characters.
        pub message: String,
        /// The first failure, milliseconds.
        pub first_at: i64,
        /// The last failure, milliseconds.
        pub last_at: i64,
        /// Failed attempts.
        pub count: i64,
        /// Jobs that failed last, the newest first, each once.
        pub jobs: Vec<JobId> as "jobs" via Ids,
    }
}

/// Ids in one column, sixteen bytes each.
#[derive(Debug)]
pub struct Ids;

impl Codec<Vec<JobId>> for Ids {
    const KIND: Kind = Kind::Bytes;

    fn cell(ids: &Vec<JobId>) -> Cell<'_> {
        Cell::Bytes(Cow::Owned(ids.iter().flat_map(JobId::as_bytes).copied().collect()))
    }

    fn read(cell: Cell<'_>) -> Option<Vec<JobId>> {
        let Cell::Bytes(bytes) = cell else { return None };
        let (ids, rest) = bytes.as_chunks::<16>();
        rest.is_empty().then(|| ids.iter().map(|id| JobId::from_bytes(*id)).collect())
    }
}

impl ErrorRow {
    /// The key of a row.
    #[must_use]
    pub fn id_of(tenant: i64, fingerprint: &str, queue: &str, job_type: &str) -> String {
        // None of the parts has a line feed.
        let digest = Sha256::digest(format!("{tenant}\n{fingerprint}\n{queue}\n{job_type}"));
        ojs_model::hex::encode(digest.get(..16).unwrap_or_default())
    }

    /// Adds failures of the same group.
    pub fn add(&mut self, other: &Self) {
        if other.last_at >= self.last_at {
            self.message.clone_from(&other.message);
        }
        let newest_first = if other.last_at >= self.last_at { [&other.jobs, &self.jobs] } else { [&self.jobs, &other.jobs] };
        let mut seen = BTreeSet::new();
        let each_once = newest_first.into_iter().flatten().filter(|id| seen.insert(**id));
        self.jobs = each_once.copied().take(MAX_JOBS).collect();
        self.first_at = self.first_at.min(other.first_at);
        self.last_at = self.last_at.max(other.last_at);
        self.count = self.count.saturating_add(other.count);
    }
}

/// Error groups. A store that cannot be read or written is the error of all.
#[allow(clippy::missing_errors_doc, reason = "all have the same errors, and the line above names them")]
pub trait ErrorTables: RecordTables {
    /// Adds failures to the rows of their groups. `failures` are in the order of their keys, so that two nodes which
    /// add to the same rows wait for each other and never both.
    fn add_errors(&mut self, failures: &[ErrorRow]) -> Result<()> {
        if failures.is_empty() {
            return Ok(());
        }
        let keys = failures.iter().map(|row| row.id.parts()).collect();
        let lookup = Lookup { index: ErrorRow::KEY, keys, read: Read::Held };
        let mut known: BTreeMap<String, ErrorRow> = BTreeMap::new();
        self.find_records(ErrorRow::TABLE, &lookup, &mut |cells| {
            let row = ErrorRow::read(&mut Reader::new(ErrorRow::TABLE, cells))?;
            known.insert(row.id.clone(), row);
            Ok(())
        })?;
        let mut rows = Vec::with_capacity(failures.len());
        for failure in failures {
            let before = match known.remove(&failure.id) {
                Some(row) => Some(row),
                // Another node may be about to insert the same.
                None => Records::of(self).find(ErrorRow::KEY, &failure.id, Read::Reserved)?,
            };
            rows.push(match before {
                Some(mut row) => {
                    row.add(failure);
                    row
                }
                None => failure.clone(),
            });
        }
        Records::of(self).put_all(&rows)
    }

    /// All rows, those first that failed last.
    fn errors(&mut self) -> Result<Vec<ErrorRow>> {
        Records::of(self).scan(&Scan::over(ErrorRow::LAST).descending().limit(2 * MAX_ROWS))
    }

    /// The rows of one fingerprint.
    fn errors_of(&mut self, fingerprint: &str) -> Result<Vec<ErrorRow>> {
        Records::of(self).scan(&Scan::over(ErrorRow::FINGERPRINT).under(&fingerprint).limit(2 * MAX_ROWS))
    }

    /// Removes a slice of what is too old or too much; true when there may be more.
    fn prune_errors(&mut self, now: i64) -> Result<bool> {
        let until = now.saturating_sub(KEEP_MS);
        let old: Vec<ErrorRow> = Records::of(self).take(&Scan::over(ErrorRow::LAST).below(&until).limit(SLICE))?;
        let all = Records::<ErrorRow, _>::of(self).count(&Scan::over(ErrorRow::KEY))?;
        let surplus = all.saturating_sub(MAX_ROWS).min(SLICE);
        if surplus > 0 {
            let gone: Vec<ErrorRow> = Records::of(self).take(&Scan::over(ErrorRow::LAST).limit(surplus))?;
            return Ok(old.len() == SLICE || gone.len() == SLICE);
        }
        Ok(old.len() == SLICE)
    }

    /// Removes the rows of a tenant.
    fn forget_errors_of(&mut self, tenant: i64) -> Result<()> {
        let gone: Vec<ErrorRow> = Records::of(self).take(&Scan::over(ErrorRow::TENANT).under(&tenant))?;
        drop(gone);
        Ok(())
    }
}

impl<T: RecordTables + ?Sized> ErrorTables for T {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::memory::MemoryTables;

    fn failure(at: i64, message: &str, job: u8) -> ErrorRow {
        let id = ErrorRow::id_of(0, "f", "q", "t");
        let (fingerprint, queue, job_type, error_type) = ("f".into(), "q".into(), "t".into(), "E".into());
        let (message, jobs) = (message.to_owned(), vec![JobId::from_bytes([job; 16])]);
        let (first_at, last_at, count, tenant) = (at, at, 1, 0);
        ErrorRow { id, tenant, fingerprint, queue, job_type, error_type, message, first_at, last_at, count, jobs }
    }

    #[test]
    fn a_group_has_the_newest_message_and_each_job_once_the_newest_first() {
        let mut row = failure(20, "b", 1);
        for other in [failure(10, "a", 2), failure(30, "c", 3), failure(30, "d", 1)] {
            row.add(&other);
        }
        assert_eq!((row.message.as_str(), row.first_at, row.last_at, row.count), ("d", 10, 30, 4));
        assert_eq!(row.jobs, [1, 3, 2].map(|job| JobId::from_bytes([job; 16])));
        (0..200).for_each(|job| row.add(&failure(40, "e", job)));
        assert_eq!((row.jobs.len(), row.jobs[0], row.count), (MAX_JOBS, JobId::from_bytes([199; 16]), 204));
    }

    #[test]
    fn the_groups_that_failed_last_are_kept() {
        let mut tables = MemoryTables::default();
        let mut rows: Vec<ErrorRow> = (0..MAX_ROWS as i64 + 700)
            .map(|n| ErrorRow { id: ErrorRow::id_of(n, "f", "q", "t"), tenant: n, ..failure(n, "m", 1) })
            .collect();
        rows.sort_by(|a, b| a.id.cmp(&b.id));
        tables.add_errors(&rows).unwrap();
        while tables.prune_errors(0).unwrap() {}
        let left = tables.errors().unwrap();
        assert_eq!((left.len(), left.last().map(|row| row.first_at)), (MAX_ROWS, Some(700)));
        while tables.prune_errors(KEEP_MS + 1_000).unwrap() {}
        assert_eq!(tables.errors().unwrap().last().map(|row| row.first_at), Some(1_000));
        tables.forget_errors_of(1_000).unwrap();
        assert_eq!(tables.errors_of("f").unwrap().len(), MAX_ROWS - 301);
    }

    #[test]
    fn ids_are_kept_as_bytes() {
        let ids = vec![JobId::from_bytes([7; 16]), JobId::from_bytes([9; 16])];
        assert_eq!(Ids::read(Ids::cell(&ids)), Some(ids));
        assert_eq!(Ids::read(Cell::bytes(&[1; 17])), None);
        assert_ne!(ErrorRow::id_of(0, "f", "q", "t"), ErrorRow::id_of(1, "f", "q", "t"));
    }
}
