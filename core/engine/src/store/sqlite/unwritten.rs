//! Rows of claimed and completed jobs that the open transaction has not written yet.
//!
//! One command claims and completes many jobs. Their updates are written together, before the next statement of any
//! other kind, so the statement is looked up once for all of them.
use std::cell::RefCell;

use ojs_model::JobState;
use rusqlite::{CachedStatement, Connection};

use super::rows::{Changed, write};
use crate::error::Result;
use crate::kernel::job::JobRow;
use crate::store::row::{Row, Section};

/// Updates that wait, oldest first.
#[derive(Debug, Default)]
pub(super) struct Unwritten(RefCell<Vec<(Changed, JobRow)>>);

impl Unwritten {
    /// Takes an update that may wait. Returns false for one that may not: of maintenance, which must know at which job
    /// a statement failed, and of the columns that few updates change.
    pub(super) fn take(&self, before: &JobRow, after: &JobRow) -> bool {
        let may_wait = matches!(after.state, JobState::Active | JobState::Completed) && !after.differs(before, Section::Moved);
        if may_wait {
            self.0.borrow_mut().push((Changed::between(before, after), after.clone()));
        }
        may_wait
    }

    /// How many updates wait.
    pub(super) fn len(&self) -> u64 {
        self.0.borrow().len() as u64
    }

    /// Forgets them, after a rollback.
    pub(super) fn forget(&self) {
        self.0.borrow_mut().clear();
    }

    /// Writes them. After a failure they all wait still, so that the transaction cannot be committed without them.
    #[inline]
    pub(super) fn write(&self, connection: &Connection) -> Result<()> {
        if self.0.borrow().is_empty() { Ok(()) } else { self.write_all(connection) }
    }

    fn write_all(&self, connection: &Connection) -> Result<()> {
        let mut rows = self.0.borrow_mut();
        let mut statements: [Option<CachedStatement<'_>>; Changed::KINDS] = Default::default();
        for (changed, row) in rows.iter() {
            let Some(place) = statements.get_mut(changed.kind()) else { continue };
            let statement = match place {
                Some(statement) => statement,
                None => place.insert(connection.prepare_cached(changed.statement())?),
            };
            write(statement, row.seq, row, |section| changed.has(section))?;
        }
        rows.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ojs_model::{NewJob, Timestamp};

    use super::*;
    use crate::options::Durability;
    use crate::store::heads::Heads;
    use crate::store::rows::fresh_row;
    use crate::store::sqlite::SqliteTables;
    use crate::store::tables::Tables;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    /// A file with one available job, in an open transaction.
    fn with_a_job() -> (tempfile::TempDir, SqliteTables, JobRow) {
        let directory = tempfile::tempdir().unwrap();
        let mut tables = SqliteTables::open(&directory.path().join("jobs.db"), Durability::Full).unwrap();
        let job = NewJob::parse(r#"{"type":"t","args":[]}"#, NOW).unwrap();
        let mut row = fresh_row(&job, 1, 1, JobState::Available, 1, NOW);
        tables.begin(true).unwrap();
        assert_eq!(tables.insert_all(&[&job], std::slice::from_mut(&mut row)).unwrap(), None);
        tables.commit().unwrap();
        tables.begin(true).unwrap();
        (directory, tables, row)
    }

    fn active(row: &JobRow) -> JobRow {
        JobRow { state: JobState::Active, worker: 4, lease: 5, attempt: 1, started_at: 6, ..row.clone() }
    }

    fn completed(row: &JobRow) -> JobRow {
        JobRow { state: JobState::Completed, worker: 0, finished_at: 7, ..row.clone() }
    }

    #[test]
    fn what_waits_is_found_by_every_statement_and_counted_once() {
        let (_directory, mut tables, row) = with_a_job();
        let before = tables.changes();
        tables.update(&row, &active(&row)).unwrap();
        tables.update(&active(&row), &completed(&active(&row))).unwrap();
        assert_eq!((tables.unwritten.len(), tables.changes()), (2, before + 2));
        assert_eq!(tables.row(row.id).unwrap(), Some(completed(&active(&row))));
        assert_eq!((tables.unwritten.len(), tables.changes()), (0, before + 2));
        assert_eq!(tables.ready(&Heads::Queue { queue: 1, limit: 10 }).unwrap(), Vec::new());
        tables.commit().unwrap();
    }

    #[test]
    fn a_rollback_forgets_what_waits() {
        let (_directory, mut tables, row) = with_a_job();
        tables.update(&row, &active(&row)).unwrap();
        tables.rollback();
        tables.begin(true).unwrap();
        assert_eq!(tables.row(row.id).unwrap(), Some(row));
        tables.commit().unwrap();
    }

    #[test]
    fn updates_of_maintenance_and_moves_do_not_wait() {
        let (_directory, mut tables, row) = with_a_job();
        for after in [
            JobRow { state: JobState::Retryable, ..row.clone() },
            JobRow { queue: row.queue + 1, ..active(&row) },
            JobRow { state: JobState::Discarded, finished_at: 9, ..row.clone() },
        ] {
            tables.update(&row, &after).unwrap();
            assert_eq!(tables.unwritten.len(), 0, "{after:?}");
            assert_eq!(tables.row(row.id).unwrap(), Some(after.clone()));
            tables.update(&after, &row).unwrap();
        }
        tables.commit().unwrap();
    }

    #[test]
    fn a_transaction_is_not_committed_without_what_waits() {
        let (_directory, mut tables, row) = with_a_job();
        tables.update(&row, &active(&row)).unwrap();
        tables.connection.execute_batch("PRAGMA query_only = ON").unwrap();
        assert!(tables.commit().unwrap_err().to_string().contains("readonly"));
        assert_eq!(tables.unwritten.len(), 1);
        tables.connection.execute_batch("PRAGMA query_only = OFF").unwrap();
        tables.commit().unwrap();
        tables.begin(true).unwrap();
        tables.active.clear();
        assert_eq!(tables.row(row.id).unwrap(), Some(active(&row)));
        tables.commit().unwrap();
    }
}
