//! Records that time makes due: features declare them, and every store looks for all of them in one probe.
use std::fmt::Write;

use crate::store::record::text::Dialect;
use crate::store::record::{Index, Table};

/// Records of a table that become due.
#[derive(Debug, Clone, Copy)]
pub struct Due {
    /// The table.
    pub table: &'static Table,
    /// A `positive` index; its first column says when.
    pub index: Index,
    /// When they are.
    pub when: When,
}

/// When a record is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// At the time in the index.
    Reached,
    /// When the time in the index is so long ago that a worker counts as dead.
    Silent,
    /// When the job has ended whose id is in this column.
    Ended(&'static str),
}

impl Due {
    /// Records that are due at the time in an index.
    #[must_use]
    pub const fn reached(table: &'static Table, index: Index) -> Self {
        Self { table, index, when: When::Reached }
    }

    /// Appends the question whether there are any. The first value is the time, the second the time of silence.
    fn push(&self, text: &mut String, dialect: Dialect) {
        let Self { table, index, when } = self;
        let (sign, prefix) = match dialect {
            Dialect::Sqlite => ('?', ""),
            Dialect::Postgres => ('$', "ojs_"),
        };
        let (table, column) = (format!("{prefix}{}", table.name), index.columns.first().copied().unwrap_or_default());
        let condition = match (when, dialect) {
            (When::Reached, _) => format!("{column} <= {sign}1"),
            (When::Silent, _) => format!("{column} <= {sign}2"),
            (When::Ended(job), Dialect::Sqlite) => {
                format!("NOT EXISTS (SELECT 1 FROM jobs WHERE id = {table}.{job} AND state NOT IN (4, 6, 7))")
            }
            (When::Ended(job), Dialect::Postgres) => format!(
                "NOT EXISTS (SELECT 1 FROM ojs_jobs JOIN ojs_runs ON ojs_runs.seq = ojs_jobs.seq \
                 WHERE ojs_jobs.id = {table}.{job} AND state NOT IN (4, 6, 7))"
            ),
        };
        // Writing to a String cannot fail.
        let _ = write!(text, "\n    OR EXISTS (SELECT 1 FROM {table} WHERE {column} > 0 AND {condition})");
    }
}

/// The statement that asks whether any job or record is due. `jobs` is the store's question for jobs; one question for
/// each declaration follows it.
pub(crate) fn statement<'a>(jobs: &str, dialect: Dialect, records: impl Iterator<Item = &'a Due>) -> String {
    let mut text = jobs.trim_end().to_owned();
    records.for_each(|due| due.push(&mut text, dialect));
    text
}
