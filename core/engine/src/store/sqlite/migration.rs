//! The schema of a file, and the migrations of older files.
use std::path::Path;

use rusqlite::{Connection, OpenFlags, Transaction};

use crate::error::{Result, StoreError};

/// The schema that this version writes.
pub const SCHEMA_VERSION: i64 = 7;

/// The schema of a file as it is; 0 when there is no file.
pub fn version(path: &Path) -> Result<i64> {
    if !path.exists() {
        return Ok(0);
    }
    schema_of(&Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?)
}

/// The version that a file says it has. Another program's file is refused: its tables and its version are not ours to change.
pub(super) fn schema_of(connection: &Connection) -> Result<i64> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let mut statement = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")?;
    let tables = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    let ours = if version == 0 {
        tables.is_empty()
    } else {
        ["jobs", "bodies", "kinds"].iter().all(|name| tables.iter().any(|t| t == name))
    };
    // A newer version may have other tables; it is refused for that.
    if ours || version > SCHEMA_VERSION {
        return Ok(version);
    }
    let found = tables.first().map_or_else(String::new, |name| format!(", it has a table {name}"));
    Err(StoreError::Failed(format!("the file belongs to another program{found}: give the jobs a file of their own")))
}

/// Brings a file, new or old, to the schema of this version.
pub fn migrate(transaction: &Transaction<'_>) -> Result<()> {
    let version = schema_of(transaction)?;
    if version > SCHEMA_VERSION {
        return Err(StoreError::Failed(format!(
            "the file has schema version {version}, this program knows {SCHEMA_VERSION}: upgrade it"
        )));
    }
    if version < 1 {
        transaction.execute_batch(include_str!("schema.sql"))?;
    }
    if version < 2 {
        transaction.execute_batch(include_str!("migrations/0002.sql"))?;
    }
    if version < 3 {
        transaction.execute_batch(include_str!("migrations/0003.sql"))?;
    }
    if version < 4 {
        transaction.execute_batch(include_str!("migrations/0004.sql"))?;
    }
    if version < 5 {
        transaction.execute_batch(include_str!("migrations/0005.sql"))?;
    }
    if version < 6 {
        transaction.execute_batch(include_str!("migrations/0006.sql"))?;
    }
    if version < 7 {
        // A new file gets these indexes when it needs them. An old file keeps them: another process may have it open.
        if version == 0 {
            transaction.execute_batch(&super::optional::drop_all())?;
        }
        transaction.pragma_update(None, "user_version", 7)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Durability;
    use crate::store::heads::Heads;
    use crate::store::names::NameTables;
    use crate::store::rows::{Directive, WorkerPhase};
    use crate::store::sqlite::SqliteTables;
    use crate::store::tables::Tables;

    #[test]
    fn a_file_of_version_1_opens_and_keeps_its_jobs() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("old.db");
        let old = Connection::open(&path).unwrap();
        old.execute_batch(include_str!("schema.sql")).unwrap();
        old.execute_batch(
            "INSERT INTO queues VALUES (1, 'q', 0, 5, 0, 0, 0); INSERT INTO kinds VALUES (1, 't'); INSERT INTO counts VALUES (1, 1, 1);
             INSERT INTO workers VALUES (1, 'w', 1, 5, 2);
             INSERT INTO jobs VALUES (1, x'019461a81a2b7c3d8e4f5a6b7c8d9e0f', 1, 1, 1, 0, 9, 0, 0, 3, 0, 0, 0, 0, 0, 5, 5, 0, 0, 0, 0, 0, 0, 0, 0, NULL);
             INSERT INTO bodies VALUES (1, '\"id\":\"019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f\"', NULL, 0, 0, 0);",
        )
        .unwrap();
        drop(old);
        assert_eq!(super::version(&path).unwrap(), 1);
        for _ in 0..2 {
            let mut tables = SqliteTables::open(&path, Durability::Full).unwrap();
            let ready = tables.ready(&Heads::Queue { queue: 1, limit: 10 }).unwrap();
            assert_eq!((ready.len(), ready[0].0.created_at, ready[0].0.max_attempts), (1, 5, 3));
            let worker = tables.worker("w").unwrap();
            assert_eq!((worker.phase, worker.directive), (WorkerPhase::Quiet, Directive::Terminate));
            assert_eq!((worker.beat_at, worker.first_at, &*worker.info), (5, 0, "{}"));
            let version: i64 =
                Connection::open(&path).unwrap().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
            assert_eq!(version, SCHEMA_VERSION);
        }
    }

    /// A Mac's plain fsync leaves the data in the drive's cache. Elsewhere the settings change nothing, so they are looked for everywhere.
    #[test]
    fn a_connection_that_confirms_syncs_through_the_cache_of_the_drive() {
        let directory = tempfile::tempdir().unwrap();
        for (durability, wanted) in [(Durability::Full, true), (Durability::Relaxed, false)] {
            let tables = SqliteTables::open(&directory.path().join("jobs.db"), durability).unwrap();
            for name in ["fullfsync", "checkpoint_fullfsync"] {
                let set: bool = tables.pragma(name);
                assert_eq!(set, wanted, "{name}");
            }
        }
    }

    #[test]
    fn a_file_of_another_program_is_refused_and_left_alone() {
        for (name, version) in [("users", 0), ("jobs", 0), ("users", 2)] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("app.db");
            let app = Connection::open(&path).unwrap();
            app.execute_batch(&format!("CREATE TABLE {name} (id INTEGER); PRAGMA user_version = {version}")).unwrap();
            for refusal in [SqliteTables::open(&path, Durability::Full).unwrap_err(), super::version(&path).unwrap_err()] {
                assert!(refusal.to_string().contains("a file of their own"), "{refusal}");
            }
            let tables: i64 = app.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
            assert_eq!(tables, 1);
        }
    }

    #[test]
    fn a_file_of_a_newer_version_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new.db");
        Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
        let refusal = SqliteTables::open(&path, Durability::Full).unwrap_err();
        assert!(refusal.to_string().contains("upgrade"), "{refusal}");
    }
}
