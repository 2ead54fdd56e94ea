//! The lists of columns that statements in `.sql` files name by a placeholder.
use crate::kernel::job::{Body, History, JobRow};
use crate::store::record::text::Dialect;
use crate::store::row::Row;
use crate::store::row::fill::{Lists, fill};
use crate::store::rows::EventBatch;
use crate::store::selection::sql::Form;

/// What `{JOB}`, `{r.JOB}` and the like stand for.
pub const LISTS: Lists =
    &[("JOB", JobRow::TABLE), ("BODY", Body::TABLE), ("HISTORY", History::TABLE), ("EVENT", EventBatch::TABLE)];

/// A statement of a `.sql` file as stores send it, for tests that look at plans.
#[must_use]
pub fn statement(text: &str) -> String {
    let mut bytes = vec![0; fill(text, LISTS, &mut [])];
    let _ = fill(text, LISTS, &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The statement of a selection as SQLite gets it, for the same tests.
#[must_use]
pub fn sqlite_statement(form: Form) -> String {
    form.statement(Dialect::Sqlite, false).to_owned()
}
