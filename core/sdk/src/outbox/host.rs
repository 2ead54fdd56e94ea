//! A database that the host's own driver reaches: in a process that has an SQLite of its own, ours must not open the same file.
//!
//! Two copies of SQLite in one process that open one file corrupt it: closing a file in one drops the POSIX locks of the other. So the
//! statements go to the host as a request, `POST /outbox` with `[{"sql": …, "params": […]}]`, and `[[row, …], …]` comes back.
use std::sync::Arc;

use super::database::{Database, DatabaseError, Rows, Statement};
use super::dialect::Dialect;
use crate::transport::{BoxFuture, Request, Transport};

/// Passes statements on to the host.
pub struct HostDatabase {
    dialect: Dialect,
    host: Arc<dyn Transport>,
}

impl HostDatabase {
    /// `host` answers `POST /outbox`: it runs the statements in one transaction.
    #[must_use]
    pub fn new(dialect: Dialect, host: Arc<dyn Transport>) -> Self {
        Self { dialect, host }
    }
}

impl Database for HostDatabase {
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn run(&self, statements: Vec<Statement>) -> BoxFuture<'_, Result<Vec<Rows>, DatabaseError>> {
        Box::pin(async move {
            let body = serde_json::to_vec(&statements).map_err(|e| DatabaseError(e.to_string()))?;
            let answer = self.host.request(Request::post("/outbox", body)).await.map_err(|e| DatabaseError(e.to_string()))?;
            if !answer.is_success() {
                return Err(DatabaseError(String::from_utf8_lossy(&answer.body).into_owned()));
            }
            serde_json::from_slice(&answer.body).map_err(|e| DatabaseError(format!("the host's answer cannot be read: {e}")))
        })
    }
}
