//! Declared tables in a file: finds the existing ones, and adds the missing ones when it is opened.
use rusqlite::Connection;

use crate::error::Result;
use crate::features::TABLES;
use crate::store::record::Table;
use crate::store::record::schema::{Found, FoundColumn, FoundIndex, missing};
use crate::store::record::text::Dialect;

/// Adds what a file lacks of the declared tables.
pub fn complete(connection: &Connection) -> Result<()> {
    for table in TABLES.iter() {
        for statement in missing(Dialect::Sqlite, table, &found(connection, table)?) {
            connection.execute_batch(&statement)?;
        }
    }
    Ok(())
}

/// A table as the file has it.
pub fn found(connection: &Connection, table: &Table) -> Result<Found> {
    let mut found = Found::default();
    connection.pragma(None, "table_info", table.name, |row| {
        found.columns.push(FoundColumn {
            name: row.get(1)?,
            kind: row.get(2)?,
            optional: !row.get::<_, bool>(3)?,
            has_default: row.get::<_, Option<String>>(4)?.is_some(),
        });
        Ok(())
    })?;
    let mut indexes: Vec<(String, FoundIndex)> = Vec::new();
    connection.pragma(None, "index_list", table.name, |row| {
        let origin: String = row.get(3)?;
        if origin != "pk" {
            indexes.push((row.get(1)?, FoundIndex { columns: Vec::new(), unique: row.get(2)?, partial: row.get(4)? }));
        }
        Ok(())
    })?;
    for (name, mut index) in indexes {
        connection.pragma(None, "index_info", &name, |row| {
            index.columns.push(row.get(2)?);
            Ok(())
        })?;
        found.indexes.push(index);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Durability;
    use crate::store::record::schema::differences;
    use crate::store::sqlite::SqliteTables;

    fn all_differences(connection: &Connection) -> Vec<String> {
        let of = |table: &&Table| differences(Dialect::Sqlite, table, &found(connection, table).unwrap());
        TABLES.iter().flat_map(of).collect()
    }

    #[test]
    fn declared_tables_are_as_declared_in_a_new_file_and_in_one_of_every_older_version() {
        for version in 0..=3 {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("jobs.db");
            let file = Connection::open(&path).unwrap();
            let scripts = [include_str!("schema.sql"), include_str!("migrations/0002.sql"), include_str!("migrations/0003.sql")];
            scripts.iter().take(version).for_each(|script| file.execute_batch(script).unwrap());
            drop(SqliteTables::open(&path, Durability::Full).unwrap());
            assert_eq!(all_differences(&file), Vec::<String>::new(), "from version {version}");
        }
    }

    #[test]
    fn a_file_gets_the_tables_columns_and_indexes_that_it_lacks_and_keeps_its_records() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("jobs.db");
        drop(SqliteTables::open(&path, Durability::Full).unwrap());
        let file = Connection::open(&path).unwrap();
        file.execute_batch(
            "INSERT INTO limits (num, tenant, key, starts) VALUES (7, 't', 'k', 3);
             DROP INDEX limits_open; ALTER TABLE limits DROP COLUMN held_until; DROP TABLE answers; DROP TABLE crons",
        )
        .unwrap();
        assert_eq!(all_differences(&file).len(), 7, "{:?}", all_differences(&file));
        drop(SqliteTables::open(&path, Durability::Full).unwrap());
        assert_eq!(all_differences(&file), Vec::<String>::new());
        let kept = file.query_row("SELECT num, starts, held_until FROM limits", [], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
        });
        assert_eq!(kept.unwrap(), (7, 3, 0));
    }
}
