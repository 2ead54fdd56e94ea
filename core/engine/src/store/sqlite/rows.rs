//! Rows to and from SQLite columns.

use ojs_model::NewJob;
use ojs_model::lazy::Lazy;
use ojs_model::unique::UniqueKey;
use rusqlite::{CachedStatement, Row as SqlRow};

use super::SqliteTables;
use super::records::SqliteRow;
use crate::error::{Result, StoreError};
use crate::kernel::job::{Body, History, JobRow};
use crate::store::record::{Cell, Reader};
use crate::store::row::{Row, Section};
use crate::store::rows::fresh_settings;

/// Inserts a job; changes nothing when its id exists. What a claim sets later is 0 in the statement itself.
pub static INSERT_JOB: Lazy<String> = Lazy::new(|| {
    let (inserted, later) = (JobRow::names(Section::is_inserted), JobRow::names(|section| section == Section::Later));
    let params = params_from(1, JobRow::columns(Section::is_inserted).count() + 1);
    let zeros = vec!["0"; JobRow::columns(|section| section == Section::Later).count()].join(", ");
    format!("INSERT INTO jobs ({inserted}, ukey, {later}) VALUES ({params}, {zeros}) ON CONFLICT (id) DO NOTHING")
});
/// Write what has changed of a job, by [`Changed::kind`]. SQLite looks at the indexes of the columns that a statement
/// names, so a claim names none of those that only the end of a job changes.
static UPDATE_JOB: Lazy<[String; Changed::KINDS]> = Lazy::new(|| {
    [(false, false), (true, false), (false, true), (true, true)]
        .map(|(ending, later)| update::<JobRow>("jobs", |section| Changed { ending, later }.has(section)))
});
/// Writes what few changes touch.
pub static MOVE_JOB: Lazy<String> = Lazy::new(|| update::<JobRow>("jobs", Section::is_moved));
/// Stores the fixed part of a job.
pub static INSERT_BODY: Lazy<String> = Lazy::new(|| insert::<Body>("bodies"));
/// Replaces the fixed part of a job.
pub static SET_BODY: Lazy<String> = Lazy::new(|| update::<Body>("bodies", Section::is_updated));
/// Stores or replaces errors and result of a job.
pub static SET_HISTORY: Lazy<String> = Lazy::new(|| {
    let sets = History::columns(Section::is_any).map(|column| format!("{0} = excluded.{0}", column.name));
    format!("{} ON CONFLICT (seq) DO UPDATE SET {}", insert::<History>("histories"), sets.collect::<Vec<_>>().join(", "))
});

/// The sections of a job that an update writes.
#[derive(Debug, Clone, Copy)]
pub struct Changed {
    ending: bool,
    later: bool,
}

impl Changed {
    /// How many different ones there are.
    pub const KINDS: usize = 4;

    /// Those in which two forms of a row differ.
    pub fn between(before: &JobRow, after: &JobRow) -> Self {
        Self { ending: after.differs(before, Section::Ending), later: after.differs(before, Section::Later) }
    }

    /// Whether a section is among them.
    pub const fn has(self, section: Section) -> bool {
        match section {
            Section::Changing => true,
            Section::Ending => self.ending,
            Section::Later => self.later,
            Section::Key | Section::Fixed | Section::Moved => false,
        }
    }

    /// A number below [`KINDS`](Self::KINDS).
    pub fn kind(self) -> usize {
        usize::from(self.ending) + 2 * usize::from(self.later)
    }

    /// The statement that writes them.
    pub fn statement(self) -> &'static str {
        UPDATE_JOB.get(self.kind()).map_or("", String::as_str)
    }
}

/// Place of the text among the parameters of [`INSERT_BODY`].
const TEXT: usize = 2;

fn params_from(first: usize, count: usize) -> String {
    (first..first + count).map(|number| format!("?{number}")).collect::<Vec<_>>().join(", ")
}

/// A row that belongs to a job: the job's number is its key.
fn insert<R: Row>(table: &str) -> String {
    let (names, params) = (R::names(Section::is_any), params_from(2, R::TABLE.columns.len()));
    format!("INSERT INTO {table} (seq, {names}) VALUES (?1, {params})")
}

fn update<R: Row>(table: &str, wanted: impl Fn(Section) -> bool) -> String {
    let sets: Vec<String> =
        (2..).zip(R::columns(wanted)).map(|(number, column)| format!("{} = ?{number}", column.name)).collect();
    format!("UPDATE {table} SET {} WHERE seq = ?1", sets.join(", "))
}

/// Reads a row from its first column on.
#[inline]
pub fn read<R: Row>(row: &SqlRow<'_>, first: usize) -> Result<R> {
    R::read(&mut Reader::new(R::TABLE, &SqliteRow { row, first }))
}

/// A job with its fixed part.
#[inline]
pub fn read_whole(row: &SqlRow<'_>) -> Result<(JobRow, Body)> {
    Ok((read(row, 0)?, read(row, JobRow::TABLE.columns.len())?))
}

impl SqliteTables {
    /// All rows that a statement finds.
    pub(super) fn all<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        read: impl Fn(&SqlRow<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.statement(sql)?;
        let mut rows = statement.query(params)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            all.push(read(row)?);
        }
        Ok(all)
    }

    /// The first row that a statement finds.
    pub(super) fn one<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        read: impl Fn(&SqlRow<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut statement = self.statement(sql)?;
        let mut rows = statement.query(params)?;
        rows.next()?.map(read).transpose()
    }

    /// Jobs that a statement finds.
    pub(super) fn job_rows(&self, sql: &str, params: impl rusqlite::Params) -> Result<Vec<JobRow>> {
        self.all(sql, params, |row| read(row, 0))
    }
}

/// Binds the values of some sections, from a place on; returns the place behind them.
#[inline]
fn bind<R: Row>(
    statement: &mut CachedStatement<'_>,
    mut place: usize,
    row: &R,
    wanted: impl Fn(Section) -> bool,
) -> rusqlite::Result<usize> {
    row.each(wanted, |cell| {
        match cell {
            Cell::Integer(number) => statement.raw_bind_parameter(place, number)?,
            cell => statement.raw_bind_parameter(place, &cell)?,
        }
        place += 1;
        Ok::<(), rusqlite::Error>(())
    })?;
    Ok(place)
}

/// Runs [`INSERT_JOB`].
pub fn insert_job(statement: &mut CachedStatement<'_>, row: &JobRow, unique: Option<&UniqueKey>) -> Result<usize> {
    let place = bind(statement, 1, row, Section::is_inserted)?;
    statement.raw_bind_parameter(place, unique.map(|key| &key.as_bytes()[..]))?;
    Ok(statement.raw_execute()?)
}

/// Runs [`INSERT_BODY`], with the text straight from the request.
pub fn insert_body(statement: &mut CachedStatement<'_>, seq: i64, job: &NewJob) -> Result<usize> {
    statement.raw_bind_parameter(1, seq)?;
    let mut place = TEXT;
    fresh_settings(job).each(Section::is_any, |cell| {
        let cell = if place == TEXT { Cell::text(&job.body) } else { cell };
        statement.raw_bind_parameter(place, &cell)?;
        place += 1;
        Ok::<(), StoreError>(())
    })?;
    Ok(statement.raw_execute()?)
}

/// Runs a statement that is bound to the number of a job and the values of some sections.
pub fn write<R: Row>(statement: &mut CachedStatement<'_>, seq: i64, row: &R, wanted: impl Fn(Section) -> bool) -> Result<usize> {
    statement.raw_bind_parameter(1, seq)?;
    bind(statement, 2, row, wanted)?;
    Ok(statement.raw_execute()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Durability;
    use crate::store::record::schema::differences;
    use crate::store::record::text::Dialect;
    use crate::store::rows::EventBatch;
    use crate::store::sqlite::declared::found;

    #[test]
    fn an_update_names_what_has_changed() {
        let job = NewJob::parse(r#"{"type":"t","args":[]}"#, ojs_model::Timestamp::from_millis(1)).unwrap();
        let row =
            crate::store::rows::fresh_row(&job, 1, 1, ojs_model::JobState::Available, 1, ojs_model::Timestamp::from_millis(1));
        let claimed = JobRow { worker: 2, lease: 3, attempt: 1, ..row.clone() };
        let ended = JobRow { worker: 0, finished_at: 4, ..claimed.clone() };
        let texts = [(&row, &row), (&row, &claimed), (&claimed, &ended), (&row, &ended)]
            .map(|(before, after)| Changed::between(before, after).statement());
        assert_eq!(texts.map(|text| text.contains("lease = ?")), [false, true, false, true]);
        assert_eq!(texts.map(|text| text.contains("finished_at = ?")), [false, false, true, true]);
        assert!(texts.iter().all(|text| text.starts_with("UPDATE jobs SET state = ?2, pos = ?3, worker = ?4")));
    }

    #[test]
    fn the_text_of_a_body_is_its_first_column() {
        assert_eq!(Body::TABLE.columns.first().map(|column| column.name), Some("body"));
    }

    #[test]
    fn rows_with_statements_of_their_own_are_as_declared_in_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("jobs.db");
        drop(SqliteTables::open(&path, Durability::Full).unwrap());
        let file = rusqlite::Connection::open(&path).unwrap();
        for table in [JobRow::TABLE, Body::TABLE, History::TABLE, EventBatch::TABLE] {
            let found = found(&file, table).unwrap();
            let mut other = differences(Dialect::Sqlite, table, &found);
            // Written by statements of the log itself.
            other.retain(|difference| !difference.starts_with("events.upto "));
            assert_eq!(other, Vec::<String>::new());
            assert!(!found.columns.is_empty(), "{}", table.name);
        }
    }
}
