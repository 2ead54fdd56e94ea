//! Checks a file in the background, after an unclean end.
//!
//! A damaged page is otherwise found only by chance, as a wrong row or a refusal. The check reads one table at a time,
//! on a connection of its own: no command waits for it, and the log cannot be truncated only while one table is read.
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::Result;
use crate::store::seam::{Checkup, Finding};

/// Instructions of SQLite between two looks whether the store is being closed: about a millisecond.
const STEPS: i32 = 10_000;

/// Starts the look.
#[must_use]
pub fn start(path: &Path) -> Arc<Checkup> {
    let (checkup, path) = (Arc::new(Checkup::default()), path.to_owned());
    let shared = Arc::clone(&checkup);
    let started = crate::threads::spawn("ojs-checkup", move || {
        let finding = look(&path, &shared).unwrap_or_else(|fault| Finding::Unfinished(fault.to_string()));
        match &finding {
            Finding::Damaged(what) => tracing::error!(
                file = %path.display(), %what,
                "the database is damaged: stop the server, restore a backup, or save what can be with `sqlite3 FILE .recover`"
            ),
            Finding::Unfinished(why) if shared.is_stopped() => {
                tracing::debug!(%why, "the look through the database was broken off")
            }
            Finding::Unfinished(why) => tracing::warn!(%why, "the look through the database could not be finished"),
            Finding::Sound | Finding::Running => {
                tracing::info!("the last process on this database ended uncleanly; the file was looked through and is sound");
            }
        }
        shared.found(finding);
    });
    match started {
        Ok(thread) => checkup.runs_in(thread),
        Err(error) => checkup.found(Finding::Unfinished(format!("cannot start a thread: {error}"))),
    }
    checkup
}

fn look(path: &Path, checkup: &Arc<Checkup>) -> Result<Finding> {
    let mut connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    let asked = Arc::clone(checkup);
    connection.progress_handler(STEPS, Some(move || asked.is_stopped()))?;
    let mut statement = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let tables: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    drop(statement);
    for table in tables {
        let sql = format!("PRAGMA quick_check('{}')", table.replace('\'', "''"));
        let said: String = match connection.query_row(&sql, [], |row| row.get(0)) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => error.to_string(),
            said => said?,
        };
        if said != "ok" {
            return Ok(Finding::Damaged(format!("table {table}: {said}")));
        }
    }
    Ok(Finding::Sound)
}
