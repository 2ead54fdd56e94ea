//! All that a database holds, row by row.
use std::collections::BTreeMap;
use std::path::Path;

use crate::nodes::application;
use crate::support::Bench;

/// Tables that a refused command may change, because a refusal is an event and webhooks deliver events, and tables that
/// nodes write by themselves: the figures every five seconds.
const LEFT_OUT: [&str; 8] =
    ["events", "webhook_deliveries", "webhook_drops", "leader", "maintenance", "stats", "type_stats", "error_groups"];

/// The rows of each table, sorted.
pub type Contents = BTreeMap<String, Vec<String>>;

/// What the database of a test holds; nothing for a store in memory.
pub async fn contents(b: &Bench) -> Contents {
    let file = b.dir.path().join("jobs.db");
    match b.database {
        Some(_) => of_postgres(b).await,
        None if file.exists() => of_file(&file),
        None => Contents::new(),
    }
}

/// What a SQLite file holds.
pub fn of_file(file: &Path) -> Contents {
    let connection = rusqlite::Connection::open(file).unwrap();
    let mut named =
        connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").unwrap();
    let tables: Vec<String> = named.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let compared = tables.into_iter().filter(|table| !LEFT_OUT.contains(&table.as_str()));
    compared.map(|table| (table.clone(), rows(&connection, &table))).collect()
}

fn rows(connection: &rusqlite::Connection, table: &str) -> Vec<String> {
    let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        let values: Vec<_> = (0..columns).map(|column| row.get_ref(column).unwrap()).collect();
        Ok(format!("{values:?}"))
    };
    let mut rows: Vec<String> = statement.query_map([], row).unwrap().map(Result::unwrap).collect();
    rows.sort();
    rows
}

async fn of_postgres(b: &Bench) -> Contents {
    let client = application(b).await;
    let named = "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() AND tablename LIKE 'ojs\\_%'";
    let mut contents = Contents::new();
    for table in client.query(named, &[]).await.unwrap() {
        let table: String = table.get(0);
        if table.strip_prefix("ojs_").is_some_and(|name| LEFT_OUT.contains(&name)) {
            continue;
        }
        let rows = client.query(&format!("SELECT t::text FROM {table} t ORDER BY 1"), &[]).await.unwrap();
        contents.insert(table, rows.into_iter().map(|row| row.get(0)).collect());
    }
    contents
}
