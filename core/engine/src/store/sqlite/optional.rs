//! Indexes that a file gets when it first needs them.
//!
//! Each index of the jobs makes every insert and every update slower, even when no job is in the index. Many programs
//! never use some features, so the indexes of these features are made with the first job that needs them
//! ([decision 69]). A file without such an index has no such job, so a search by it finds nothing.
//!
//! [decision 69]: ../../../../../docs/adr/0069-optional-indexes.md
use rusqlite::OptionalExtension;

use super::SqliteTables;
use crate::error::Result;
use crate::kernel::job::JobRow;
use crate::store::selection::Selection;

/// Indexes that are made together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Optional {
    /// Of jobs with a limit.
    Limited,
    /// Of jobs with a version.
    Versions,
    /// Of jobs of tenants.
    Tenants,
    /// Of jobs in shared queues.
    Fair,
}

/// All of them.
const ALL: [Optional; 4] = [Optional::Limited, Optional::Versions, Optional::Tenants, Optional::Fair];

impl Optional {
    /// Its place in a set of them.
    fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The indexes by name, and what follows `ON jobs`.
    fn indexes(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Limited => &[
                ("jobs_limited", "(limited, queue, nprio, pos) WHERE limited > 0 AND state = 1"),
                ("jobs_limited_active", "(limited) WHERE limited > 0 AND state = 3"),
            ],
            Self::Versions => &[("jobs_versions", "(queue, kind, version, nprio, pos) WHERE version > 0 AND state = 1")],
            Self::Tenants => &[
                ("jobs_tenant_ready", "(tenant, queue, nprio, pos) WHERE tenant > 0 AND state = 1"),
                ("jobs_tenant", "(tenant) WHERE tenant > 0"),
            ],
            Self::Fair => &[("jobs_fair", "(queue, nprio, fair, pos) WHERE fair > 0 AND state = 1")],
        }
    }

    /// Those that a selection reads.
    fn of(wanted: &Selection<'_>) -> Option<Self> {
        match wanted {
            Selection::Running { .. } | Selection::Waiting { .. } | Selection::Heads { .. } | Selection::Parked { .. } => {
                Some(Self::Limited)
            }
            Selection::OfTenant { tenant, .. } if *tenant != 0 => Some(Self::Tenants),
            Selection::Listed(filter) if filter.tenant.is_some_and(|tenant| tenant != 0) => Some(Self::Tenants),
            _ => None,
        }
    }
}

/// The indexes in which a job belongs, as a set.
fn needed(row: &JobRow) -> u8 {
    let concerned = [row.limit > 0, row.version > 0, row.tenant > 0, row.fair > 0];
    ALL.iter().zip(concerned).filter(|(_, concerned)| *concerned).fold(0, |set, (optional, _)| set | optional.bit())
}

impl SqliteTables {
    /// Makes the indexes that a row needs which is about to be written.
    #[inline]
    pub(super) fn index_for(&self, row: &JobRow) -> Result<()> {
        let missing = needed(row) & !self.optional.get();
        if missing == 0 { Ok(()) } else { self.make_indexes(missing) }
    }

    #[cold]
    fn make_indexes(&self, missing: u8) -> Result<()> {
        for optional in ALL.into_iter().filter(|optional| optional.bit() & missing != 0) {
            for (name, on) in optional.indexes() {
                self.connection.execute_batch(&format!("CREATE INDEX IF NOT EXISTS {name} ON jobs {on}"))?;
            }
        }
        self.optional.set(self.optional.get() | missing);
        Ok(())
    }

    /// Whether the file has these indexes. Without them it has no job that they would find.
    pub(super) fn has_indexes(&self, optional: Optional) -> Result<bool> {
        if self.optional.get() & optional.bit() != 0 {
            return Ok(true);
        }
        for (name, _) in optional.indexes() {
            let mut statement = self.statement("SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?1")?;
            if statement.query_row([name], |_| Ok(())).optional()?.is_none() {
                return Ok(false);
            }
        }
        self.optional.set(self.optional.get() | optional.bit());
        Ok(true)
    }

    /// Whether a selection would read indexes that the file lacks: it finds nothing.
    pub(super) fn lacks_indexes_of(&self, wanted: &Selection<'_>) -> Result<bool> {
        Optional::of(wanted).map_or(Ok(false), |optional| Ok(!self.has_indexes(optional)?))
    }

    /// Forgets which indexes are known, because a rollback may have removed some.
    pub(super) fn forget_indexes(&self) {
        self.optional.set(0);
    }
}

/// A statement that removes all of them: from a file that was just made, in which there is no job.
pub(super) fn drop_all() -> String {
    let names = ALL.into_iter().flat_map(Optional::indexes).map(|(name, _)| *name);
    names.map(|name| format!("DROP INDEX {name};\n")).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ojs_model::{NewJob, Timestamp};
    use rusqlite::Connection;

    use super::*;
    use crate::kernel::holds::Holds;
    use crate::kernel::scope::UNKNOWN;
    use crate::options::Durability;
    use crate::store::rows::fresh_row;
    use crate::store::tables::Tables;
    use ojs_model::JobState;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    fn job() -> Arc<NewJob> {
        Arc::new(NewJob::parse(r#"{"type":"t","args":[]}"#, NOW).unwrap())
    }

    /// Stores a job of a tenant.
    fn insert(tables: &mut SqliteTables, tenant: i64) -> JobRow {
        let job = job();
        let mut row = fresh_row(&job, 1, 1, JobState::Available, 1, NOW);
        row.tenant = tenant;
        assert_eq!(tables.insert_all(&[&job], std::slice::from_mut(&mut row)).unwrap(), None);
        row
    }

    fn found(tables: &mut SqliteTables, tenant: i64) -> usize {
        let selection = Selection::OfTenant { tenant, queue: 1, holds: Holds::default() };
        tables.select(&selection, 10).unwrap().len()
    }

    #[test]
    fn a_file_gets_its_indexes_with_the_first_job_that_needs_them() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("jobs.db");
        let mut tables = SqliteTables::open(&path, Durability::Full).unwrap();
        tables.begin(true).unwrap();
        insert(&mut tables, 0);
        tables.commit().unwrap();
        assert!(!tables.has_indexes(Optional::Tenants).unwrap());
        assert_eq!(found(&mut tables, 7), 0, "nothing to be found without the index");
        assert_eq!(found(&mut tables, UNKNOWN), 0, "a tenant that has had no jobs");
        // A rollback removes the index as well, and the next such job makes it again.
        tables.begin(true).unwrap();
        insert(&mut tables, 7);
        tables.rollback();
        assert!(!tables.has_indexes(Optional::Tenants).unwrap());
        tables.begin(true).unwrap();
        insert(&mut tables, 7);
        tables.commit().unwrap();
        assert_eq!(found(&mut tables, 7), 1);
        // Another connection sees it, and one that is opened later.
        let mut reader = SqliteTables::open_reader(&path).unwrap();
        reader.begin(false).unwrap();
        assert_eq!((found(&mut reader, 7), found(&mut reader, 8)), (1, 0));
        reader.commit().unwrap();
        drop(tables);
        let mut again = SqliteTables::open(&path, Durability::Full).unwrap();
        assert_eq!(found(&mut again, 7), 1);
        assert!(!again.has_indexes(Optional::Fair).unwrap());
    }

    #[test]
    fn a_job_that_changes_gets_its_indexes_too() {
        let directory = tempfile::tempdir().unwrap();
        let mut tables = SqliteTables::open(&directory.path().join("jobs.db"), Durability::Full).unwrap();
        tables.begin(true).unwrap();
        let before = insert(&mut tables, 0);
        let mut after = before.clone();
        after.fair = 3;
        tables.update(&before, &after).unwrap();
        tables.commit().unwrap();
        assert!(tables.has_indexes(Optional::Fair).unwrap());
    }

    #[test]
    fn a_file_of_version_6_keeps_its_indexes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("old.db");
        let old = Connection::open(&path).unwrap();
        for sql in [
            include_str!("schema.sql"),
            include_str!("migrations/0002.sql"),
            include_str!("migrations/0003.sql"),
            include_str!("migrations/0004.sql"),
            include_str!("migrations/0005.sql"),
            include_str!("migrations/0006.sql"),
        ] {
            old.execute_batch(sql).unwrap();
        }
        drop(old);
        let tables = SqliteTables::open(&path, Durability::Full).unwrap();
        assert!(ALL.into_iter().all(|optional| tables.has_indexes(optional).unwrap()));
        // Their definitions are the same as those that are made later.
        let definitions = |path: &std::path::Path| {
            let file = Connection::open(path).unwrap();
            let sql = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = 'jobs' ORDER BY name";
            let mut statement = file.prepare(sql).unwrap();
            let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).unwrap();
            rows.map(|row| row.unwrap()).collect::<Vec<_>>()
        };
        let fresh = directory.path().join("new.db");
        let tables = SqliteTables::open(&fresh, Durability::Full).unwrap();
        assert!(!ALL.into_iter().any(|optional| tables.has_indexes(optional).unwrap()));
        tables.make_indexes(0xf).unwrap();
        assert_eq!(definitions(&fresh), definitions(&path));
    }
}
