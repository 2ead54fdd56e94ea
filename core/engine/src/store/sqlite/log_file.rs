//! The log of a file (`-wal`), and the recovery from a disk that has failed to store it (decision record 33).
//!
//! Linux reports a failed sync once and then treats the pages as written: the next sync succeeds although they are not
//! on the disk. A commit behind such a hole looks confirmed and is gone after a power cut, because recovery stops at
//! the hole. So, after any fault of the disk at a commit or a checkpoint, nothing is confirmed until the whole log has
//! been written and synced once more and has then been moved into the database.
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::hooks::Wal;
use rusqlite::{Connection, ErrorCode};

use crate::error::{Result, StoreError};

/// Pages of the log between two checkpoints: 16 MB. SQLite's own default is 4 MB.
const CHECKPOINT_PAGES: i32 = 4_000;
/// Pause between two attempts to write the log again.
const RETRY_AFTER: Duration = Duration::from_millis(500);
/// Bytes of the log that are written again at a time.
const CHUNK: usize = 1 << 20;

/// The log of a connection that writes.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    /// Set when the disk has failed, by commits and by checkpoints.
    holed: Arc<AtomicBool>,
    next_try: Instant,
    /// Why the latest attempt failed.
    reason: String,
}

/// The log beside a database.
pub(super) fn log_of(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Whether waiting or space, and not another disk, is what an error asks for.
fn is_harmless(error: &rusqlite::Error) -> bool {
    let harmless = [
        ErrorCode::DatabaseBusy,
        ErrorCode::DatabaseLocked,
        ErrorCode::ConstraintViolation,
        // A write was refused before the mark of the commit: what is in the log before it is untouched.
        ErrorCode::DiskFull,
    ];
    error.sqlite_error_code().is_some_and(|code| harmless.contains(&code))
}

impl LogFile {
    /// Takes over the checkpoints of a connection: SQLite's own keep a failed sync to themselves.
    pub(super) fn watch(connection: &mut Connection, database: &Path) -> Result<Self> {
        let holed = Arc::new(AtomicBool::new(false));
        let noted = Arc::clone(&holed);
        connection.wal_hook(Some(move |log: &mut Wal, pages: i32| {
            if pages >= CHECKPOINT_PAGES
                && let Err(error) = log.checkpoint()
                && !is_harmless(&error)
            {
                tracing::error!(%error, "a checkpoint failed: nothing is confirmed until the log has been written again");
                noted.store(true, Ordering::Relaxed);
            }
            // The commit itself has succeeded.
            Ok(())
        }))?;
        Ok(Self { path: log_of(database), holed, next_try: Instant::now(), reason: String::new() })
    }

    /// Whether nothing may be confirmed.
    pub(super) fn is_holed(&self) -> bool {
        self.holed.load(Ordering::Relaxed)
    }

    /// What a failed commit means.
    pub(super) fn judge(&mut self, connection: &Connection, error: rusqlite::Error) -> StoreError {
        if is_harmless(&error) {
            return error.into();
        }
        tracing::error!(%error, "a commit failed: nothing is confirmed until the log has been written again");
        self.holed.store(true, Ordering::Relaxed);
        self.reason = error.to_string();
        self.next_try = Instant::now();
        // What the process writes at its end must not come before the log is whole.
        keep_log_at_close(connection, true);
        StoreError::Unknown(error.to_string())
    }

    /// Writes the log again, if need be, and moves it into the database.
    pub(super) fn settle(&mut self, connection: &Connection) -> Result<()> {
        if !self.is_holed() {
            return Ok(());
        }
        if Instant::now() >= self.next_try {
            match mend(connection, &self.path) {
                Ok(()) => {
                    tracing::warn!("the log has been written again and moved into the database; changes are confirmed again");
                    self.holed.store(false, Ordering::Relaxed);
                    keep_log_at_close(connection, false);
                    return Ok(());
                }
                Err(fault) => {
                    self.next_try = Instant::now() + RETRY_AFTER;
                    self.reason = fault.to_string();
                }
            }
        }
        let text = format!("the disk has failed, and nothing is confirmed until the log can be written again ({})", self.reason);
        Err(StoreError::Unavailable(text))
    }
}

fn keep_log_at_close(connection: &Connection, keep: bool) {
    if let Err(error) = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep) {
        tracing::debug!(%error, "the log at the end");
    }
}

/// Writes the whole log again, syncs it, moves it into the database and empties it.
///
/// In this order: a checkpoint behind a hole would be undone in part by the frames before the hole, if the power went during it.
fn mend(connection: &Connection, log: &Path) -> Result<()> {
    // No connection, of this or another process, appends to the log meanwhile.
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let written = write_again(log);
    connection.execute_batch("ROLLBACK")?;
    written.map_err(|error| StoreError::Failed(format!("the log: {error}")))?;
    empty(connection)
}

/// Moves the log into the database and empties it; an error when a reader keeps it from that.
fn empty(connection: &Connection) -> Result<()> {
    let busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if busy {
        return Err(StoreError::Unavailable("a reader, perhaps of another process, holds on to the log".into()));
    }
    Ok(())
}

/// Writes every byte of a file to where it is, and syncs: the same to all who read it, but on the disk.
fn write_again(path: &Path) -> std::io::Result<()> {
    let mut file = File::options().read(true).write(true).open(path)?;
    let mut chunk = vec![0; CHUNK];
    let mut at = 0;
    loop {
        file.seek(SeekFrom::Start(at))?;
        let count = file.read(&mut chunk)?;
        let Some(bytes) = chunk.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)?;
        at += bytes.len() as u64;
    }
    file.sync_data()
}

/// Before a file is opened: a log that a process has left behind may have holes that no sync reports any more. Says whether there was one,
/// that is, whether the last process ended uncleanly. While another process has the file open, its log is its own business.
///
/// # Errors
/// When the disk does not take the log.
pub(super) fn recover(database: &Path) -> Result<bool> {
    let log = log_of(database);
    if !std::fs::metadata(&log).is_ok_and(|found| found.len() > 0) {
        return Ok(false);
    }
    let connection = Connection::open(database)?;
    connection.busy_timeout(Duration::ZERO)?;
    // Granted only when no other connection, of whatever process, is open.
    let alone = connection
        .execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
        .and_then(|()| connection.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0)));
    match alone {
        Ok(mode) if mode == "wal" => {}
        Ok(_) => return Ok(false),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure) => return Err(error.into()),
        // In use; or no database, which opening it will say.
        Err(_) => return Ok(false),
    }
    let written = write_again(&log);
    connection.execute_batch("ROLLBACK")?;
    written.map_err(|error| StoreError::Failed(format!("the log: {error}")))?;
    empty(&connection)?;
    Ok(true)
}
