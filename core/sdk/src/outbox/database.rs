//! The seam to whatever runs the relay's statements.
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::dialect::Dialect;
use crate::transport::BoxFuture;

/// A value of a parameter or a column. Numbers are 64 bits, everything else is text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// NULL.
    Null,
    /// A number.
    Integer(i64),
    /// Text; JSON too.
    Text(String),
}

impl Value {
    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Null | Self::Text(_) => None,
        }
    }

    pub(super) fn into_text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Integer(number) => Some(number.to_string()),
            Self::Null => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Integer(_) => None,
        }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Option<&str>> for Value {
    fn from(text: Option<&str>) -> Self {
        text.map_or(Self::Null, Self::from)
    }
}

#[cfg(feature = "outbox-sqlite")]
impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        use rusqlite::types::{ToSqlOutput, ValueRef};
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

/// One statement, with its parameters in the order of its placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// SQL in the placeholder style of the database.
    pub sql: String,
    /// A value for each placeholder.
    pub params: Vec<Value>,
}

/// The rows that a statement returned; none for one that returns nothing.
pub type Rows = Vec<Vec<Value>>;

/// The database did not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
#[error("outbox database: {0}")]
pub struct DatabaseError(
    /// What it said.
    pub String,
);

impl DatabaseError {
    /// Whether the table is missing, or is of an older version: [`Store::migrate`](super::Store::migrate) makes it, or
    /// adds what it lacks. Drivers of hosts bring the sentence of the database alone, without its number.
    #[must_use]
    pub fn is_unmigrated(&self) -> bool {
        let numbers = ["42P01", "42703", "(1146)", "(1054)"];
        let sentences = [
            ["no such table", ""],
            ["no such column", ""],
            ["relation \"", "does not exist"],
            ["column \"", "does not exist"],
            ["Table '", "doesn't exist"],
            ["Unknown column '", ""],
        ];
        numbers.iter().any(|number| self.0.contains(number))
            || sentences.iter().any(|parts| parts.iter().all(|part| self.0.contains(part)))
    }
}

/// Runs statements on the database that holds the outbox. PostgreSQL, MySQL and, outside of hosts that bring an SQLite of their own, SQLite
/// have one here; [`HostDatabase`](super::HostDatabase) passes the statements on to the application's driver.
pub trait Database: Send + Sync + 'static {
    /// Whose SQL it understands.
    fn dialect(&self) -> Dialect;

    /// Runs the statements in order and returns what each returned: for a change one row, maybe empty, for each row changed. In PostgreSQL
    /// and MySQL each is a transaction of its own, with a snapshot of
    /// its own; in SQLite all are one transaction.
    fn run(&self, statements: Vec<Statement>) -> BoxFuture<'_, Result<Vec<Rows>, DatabaseError>>;

    /// Returns when another process has said that there are new rows, or after `limit`.
    fn news(&self, limit: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(limit))
    }

    /// Notifies relays in other processes of new rows. Never called inside a transaction of the application.
    fn notify(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}
