//! Checks of a database.
use ojs_postgres_fixture::database;

use super::{report, wrong};
use crate::common::ojs;

async fn look(store: &str, check: &str) -> Option<(String, String)> {
    wrong(&report("http://127.0.0.1:1", &["--store", store, "--only", check]).await)
}

/// Runs statements; they must succeed.
async fn run(store: &str, statements: &str) {
    let (client, connection) = tokio_postgres::connect(store, tokio_postgres::NoTls).await.unwrap();
    let driver = tokio::spawn(connection);
    client.batch_execute(statements).await.unwrap_or_else(|error| panic!("{statements}: {error:?}"));
    drop(client);
    driver.await.unwrap().unwrap();
}

/// The statement of a finding: what stands between the quotes after `-c`.
fn statement(command: &str) -> String {
    command.split_once(" -c '").unwrap().1.trim_end_matches('\'').replace("'\\''", "'")
}

#[tokio::test]
async fn the_doctor_names_what_a_database_lacks() {
    let database = database();
    let store = database.url();
    assert!(look(store, "store.schema").await.unwrap().0.contains("not there yet"));
    assert_eq!(ojs(store, &["jobs", "enqueue", "a.b"]).await.status.code(), Some(0));
    assert_eq!(look(store, "store.schema").await, None);
    assert_eq!(look(store, "store.drift").await, None);
    run(store, "DROP INDEX ojs_runs_ready").await;
    let (said, command) = look(store, "store.drift").await.unwrap();
    assert!(said.contains("ojs_runs_ready is missing"), "{said}");
    run(store, &statement(&command)).await;
    assert_eq!(look(store, "store.drift").await, None, "the statement cleared it");
}

#[tokio::test]
async fn the_doctor_names_tables_that_a_crash_empties_and_that_vacuum_leaves_out() {
    let database = database();
    let store = database.url();
    assert_eq!(ojs(store, &["jobs", "enqueue", "a.b"]).await.status.code(), Some(0));
    assert_eq!(look(store, "store.vacuum").await, None);
    run(store, "ALTER TABLE ojs_runs SET (autovacuum_enabled = off)").await;
    let (said, command) = look(store, "store.vacuum").await.unwrap();
    assert!(said.contains("autovacuum leaves out ojs_runs"), "{said}");
    run(store, &statement(&command)).await;
    assert_eq!(look(store, "store.vacuum").await, None, "the statement cleared it");
    // Servers for tests are not durable: what they say of that is what an operator would be told.
    let (said, command) = look(store, "store.durability").await.unwrap();
    assert!(said.contains("fsync or synchronous_commit is off"), "{said}");
    assert!(command.ends_with(" -c 'ALTER SYSTEM SET synchronous_commit = on' -c 'SELECT pg_reload_conf();'"), "{command}");
}

#[tokio::test]
async fn the_doctor_names_connections_that_run_out_and_slots_that_are_not_read() {
    let database = database();
    let store = database.url();
    assert_eq!(ojs(store, &["jobs", "enqueue", "a.b"]).await.status.code(), Some(0));
    // Other tests use the same server: what is asked is whether this database's own bound is named.
    let bounded =
        |found: &Option<(String, String)>| found.as_ref().is_some_and(|(said, _)| said.contains("that this database may have"));
    assert!(!bounded(&look(store, "store.connections").await));
    run(store, &format!("ALTER DATABASE \"{}\" CONNECTION LIMIT 1", database.name())).await;
    // The bound does not hold for a superuser, whose connection is counted all the same.
    let found = look(store, "store.connections").await;
    assert!(bounded(&found), "{found:?}");
    run(store, &statement(&found.unwrap().1)).await;
    assert!(!bounded(&look(store, "store.connections").await), "the statement cleared it");
    let slot = format!("ojs_doctor_{}", ojs_tests::rand::random::<u32>());
    assert!(look(store, "store.transactions").await.is_none_or(|(said, _)| !said.contains(&slot)));
    run(store, &format!("SELECT pg_create_physical_replication_slot('{slot}', true)")).await;
    let found = look(store, "store.transactions").await;
    run(store, &format!("SELECT pg_drop_replication_slot('{slot}')")).await;
    let (said, command) = found.unwrap();
    assert!(said.contains(&slot) && command.contains("pg_drop_replication_slot"), "{said}");
}
