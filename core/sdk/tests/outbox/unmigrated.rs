//! A relay whose table is missing: its warning names the command that makes it, and the relay goes on afterwards.
use ojs::outbox::{DatabaseError, Relay, Table};

use super::app::{App, PATIENCE, faulty_server, quick, until};
use super::log::Log;

/// On one thread: what the relay writes is of this test.
async fn a_missing_table_is_warned_of_with_the_command_that_makes_it(app: App) {
    let log = Log::default();
    let subscriber =
        tracing_subscriber::fmt().with_writer(log.clone()).with_env_filter("ojs::outbox=warn").with_ansi(false).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    app.run("CREATE TABLE shop (id integer)").await;
    let (_, client) = faulty_server().await;
    let table = || Table::new("shop_outbox").unwrap();
    let relay = Relay::start(client, app.store_of(table()), quick());

    until("the relay is held up", || async { relay.status().error.is_some() }).await;
    let command = "'ojs relay migrate --database URL --table shop_outbox' makes the table of the outbox";
    let said = log.text();
    assert!(said.contains("WARN") && said.contains("the outbox is held up") && said.contains(command), "{said}");
    assert!(relay.status().error.unwrap().contains(command));

    app.store_of(table()).migrate().await.unwrap();
    until("the relay goes on", || async { relay.status().error.is_none() }).await;
    relay.stop(PATIENCE).await;
}

#[tokio::test]
async fn a_missing_table_is_warned_of_on_sqlite() {
    a_missing_table_is_warned_of_with_the_command_that_makes_it(App::Sqlite(tempfile::tempdir().unwrap())).await;
}

#[tokio::test]
async fn a_missing_table_is_warned_of_on_postgres() {
    a_missing_table_is_warned_of_with_the_command_that_makes_it(App::Postgres(ojs_postgres_fixture::database())).await;
}

#[tokio::test]
async fn a_missing_table_is_warned_of_on_mysql() {
    a_missing_table_is_warned_of_with_the_command_that_makes_it(App::Mysql(ojs_mariadb_fixture::database())).await;
}

/// As drivers of hosts say it, and what is something else.
#[test]
fn sentences_of_drivers_that_a_migration_mends() {
    let is_unmigrated = |said: &str| DatabaseError(said.to_owned()).is_unmigrated();
    for said in [
        "relation \"ojs_outbox\" does not exist\nLINE 1: SELECT",
        "ERROR: column \"slot\" does not exist",
        "no such table: ojs_outbox",
        "(1146, \"Table 'shop.ojs_outbox' doesn't exist\")",
        "Unknown column 'slot' in 'field list'",
    ] {
        assert!(is_unmigrated(said), "{said}");
    }
    for said in ["database \"shop\" does not exist", "permission denied for table ojs_outbox", "connection refused"] {
        assert!(!is_unmigrated(said), "{said}");
    }
}
