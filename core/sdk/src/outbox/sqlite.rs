//! SQLite, for Rust applications and for the relay as a process of its own.
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, TransactionBehavior};

use super::database::{Database, DatabaseError, Rows, Statement, Value};
use super::dialect::Dialect;
use crate::transport::BoxFuture;

/// How long a statement waits for the application's transaction to end.
const BUSY: Duration = Duration::from_secs(10);

/// An application's SQLite file.
#[derive(Debug)]
pub struct SqliteOutbox {
    connection: Arc<Mutex<Connection>>,
}

impl SqliteOutbox {
    /// Opens the file. Not in a process where another copy of SQLite (Python's, Node's) has the same file open: that corrupts it.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, DatabaseError> {
        let connection = Connection::open(path.as_ref()).map_err(|e| fault(&e))?;
        connection.busy_timeout(BUSY).map_err(|e| fault(&e))?;
        Ok(Self { connection: Arc::new(Mutex::new(connection)) })
    }
}

impl Database for SqliteOutbox {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn run(&self, statements: Vec<Statement>) -> BoxFuture<'_, Result<Vec<Rows>, DatabaseError>> {
        let connection = Arc::clone(&self.connection);
        Box::pin(async move {
            let work = move || perform(&mut connection.lock().unwrap_or_else(PoisonError::into_inner), &statements);
            tokio::task::spawn_blocking(work).await.map_err(|e| DatabaseError(e.to_string()))?.map_err(|e| fault(&e))
        })
    }
}

fn perform(connection: &mut Connection, statements: &[Statement]) -> rusqlite::Result<Vec<Rows>> {
    // A single look, the usual case when there is nothing to do, takes no write lock.
    let looks = statements.iter().all(|statement| statement.sql.starts_with("SELECT"));
    let behavior = if looks { TransactionBehavior::Deferred } else { TransactionBehavior::Immediate };
    let transaction = connection.transaction_with_behavior(behavior)?;
    let mut answers = Vec::with_capacity(statements.len());
    for statement in statements {
        let mut prepared = transaction.prepare_cached(&statement.sql)?;
        let columns = prepared.column_count();
        let mut found = prepared.query(rusqlite::params_from_iter(&statement.params))?;
        let mut rows = Rows::new();
        while let Some(row) = found.next()? {
            rows.push((0..columns).map(|at| Ok(value(row.get_ref(at)?))).collect::<rusqlite::Result<_>>()?);
        }
        answers.push(rows);
    }
    transaction.commit()?;
    Ok(answers)
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        #[expect(clippy::cast_possible_truncation, reason = "columns of numbers hold whole ones")]
        ValueRef::Real(number) => Value::Integer(number as i64),
        ValueRef::Text(text) | ValueRef::Blob(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
    }
}

fn fault(error: &rusqlite::Error) -> DatabaseError {
    DatabaseError(format!("SQLite: {error}"))
}
