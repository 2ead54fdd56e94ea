//! Checks of a file for operators: read from outside, without changes.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{SqliteTables, migration};
use crate::error::Result;
use crate::options::Durability;
use crate::store::schema::{Remark, Subject};

/// Longest look through the pages of a file.
const LONGEST_LOOK: Duration = Duration::from_secs(4);
/// Instructions of SQLite between two looks at the clock.
const STEPS: i32 = 10_000;
/// A log of more bytes has not been checkpointed for long: a reader stays open, or the disk is too slow.
const MAX_LOG_BYTES: u64 = 1 << 30;
/// Fewer free bytes than this are not worth a remark.
const MANY_FREE_BYTES: i64 = 64 << 20;

/// Looks at one thing.
pub fn look(path: &Path, durability: Durability, subject: Subject) -> Result<Vec<Remark>> {
    // A damaged file may have no version that can be read: that is what this one looks for.
    if subject == Subject::Sound {
        return if path.exists() { sound(path) } else { Ok(Vec::new()) };
    }
    let there = migration::version(path)?;
    match subject {
        Subject::Schema => {
            let store = format!("sqlite:{}", path.display());
            let missing = format!("{} is ", path.display());
            Ok(vec![Remark::version(there, migration::SCHEMA_VERSION, &missing, &store)])
        }
        Subject::Durability => Ok(vec![confirmed(durability)]),
        _ if there == 0 => Ok(Vec::new()),
        Subject::Drift if there == migration::SCHEMA_VERSION => drift(path).map(|remark| vec![remark]),
        Subject::Vacuum => vacuum(path).map(|remark| vec![remark]),
        Subject::Drift | Subject::Sound | Subject::Transactions | Subject::Connections | Subject::Clock => Ok(Vec::new()),
    }
}

fn open(path: &Path) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(Duration::from_secs(3))?;
    Ok(connection)
}

fn confirmed(durability: Durability) -> Remark {
    match durability {
        Durability::Full => Remark::fine("durability", "commits are on disk when they are confirmed"),
        Durability::Relaxed => Remark::wrong(
            "durability",
            "durability=relaxed: a power cut loses what was confirmed in the last moments. Take it out of the URL of the store",
        ),
    }
}

fn sound(path: &Path) -> Result<Vec<Remark>> {
    let mut connection = open(path)?;
    let began = Instant::now();
    connection.progress_handler(STEPS, Some(move || began.elapsed() > LONGEST_LOOK))?;
    let said = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    let damaged = |what: &str| {
        let advice = "stop the server, restore a backup, or save what can be with `sqlite3 FILE .recover`";
        Remark::wrong("file", format!("damaged ({what}): {advice}"))
            .cleared_by(format!("sqlite3 {} .recover | sqlite3 recovered.db", path.display()))
    };
    let file = match said {
        Ok(said) if said == "ok" => Remark::fine("file", "sound"),
        Ok(said) => damaged(&said),
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => damaged(&error.to_string()),
            Some(ErrorCode::OperationInterrupted) => Remark::fine(
                "file",
                format!("large: what was read in {} s is sound. `ojs doctor --audit` reads all", LONGEST_LOOK.as_secs()),
            ),
            _ => return Err(error.into()),
        },
    };
    Ok(vec![file, log(path)])
}

fn log(path: &Path) -> Remark {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    let bytes = std::fs::metadata(PathBuf::from(name)).map_or(0, |log| log.len());
    if bytes > MAX_LOG_BYTES {
        let advice = "a program that keeps a transaction open holds back the checkpoint: end it";
        return Remark::wrong("file", format!("the log beside it has {} MiB: {advice}", bytes >> 20))
            .cleared_by(format!("sqlite3 {} 'PRAGMA wal_checkpoint(TRUNCATE)'", path.display()));
    }
    Remark::fine("file", format!("the log beside it has {} MiB", bytes >> 20))
}

/// Pages that hold nothing: SQLite uses them again, but the file does not shrink by itself.
fn vacuum(path: &Path) -> Result<Remark> {
    let connection = open(path)?;
    let figure = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (free, all, size) = (figure("freelist_count")?, figure("page_count")?, figure("page_size")?);
    let (unused, whole) = (free.saturating_mul(size), all.saturating_mul(size));
    if unused > MANY_FREE_BYTES && unused.saturating_mul(2) > whole {
        let message = format!("{} of {} MiB of the file are unused: VACUUM gives them back", unused >> 20, whole >> 20);
        return Ok(Remark::wrong("vacuum", message).cleared_by(format!("sqlite3 {} VACUUM", path.display())));
    }
    Ok(Remark::fine("vacuum", format!("{} of {} MiB of the file are unused", unused >> 20, whole >> 20)))
}

/// What is defined in a file: the statement of each table, index, view and trigger, by its name.
type Definitions = BTreeMap<(String, String), String>;

fn definitions(connection: &Connection) -> Result<Definitions> {
    let sql = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get::<_, String>(2)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The columns of a table, with their types.
fn columns(connection: &Connection, table: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name || ' ' || type FROM pragma_table_info(?1) ORDER BY name")?;
    let rows = statement.query_map([table], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Compares a file with one that this program makes.
fn drift(path: &Path) -> Result<Remark> {
    let reference = SqliteTables::pattern()?;
    let there = open(path)?;
    let (wanted, found) = (definitions(&reference)?, definitions(&there)?);
    let (mut differences, mut statements) = (Vec::new(), Vec::new());
    for ((kind, name), sql) in &wanted {
        match found.get(&(kind.clone(), name.clone())) {
            None => {
                differences.push(format!("{kind} {name} is missing"));
                statements.push(format!("{sql};"));
            }
            Some(_) if kind == "table" => {
                let (ours, theirs) = (columns(&reference, name)?, columns(&there, name)?);
                differences.extend(
                    ours.iter()
                        .filter(|column| !theirs.contains(column))
                        .map(|column| format!("column {name}.{column} is missing")),
                );
            }
            Some(theirs) if plain(theirs) != plain(sql) => {
                differences.push(format!("{kind} {name} is another: {theirs}"));
                statements.push(format!("DROP {kind} {name}; {sql};"));
            }
            Some(_) => {}
        }
    }
    if differences.is_empty() {
        return Ok(Remark::fine("drift", format!("{} tables and indexes are as this program makes them", wanted.len())));
    }
    let remark = Remark::wrong("drift", differences.join("; "));
    if statements.is_empty() {
        return Ok(remark);
    }
    Ok(remark.cleared_by(format!("sqlite3 {} '{}'", path.display(), statements.join(" ").replace('\'', "'\\''"))))
}

/// A statement without what its spelling leaves open.
fn plain(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ").replace('"', "").to_ascii_lowercase()
}
