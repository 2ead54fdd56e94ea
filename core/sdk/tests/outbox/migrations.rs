//! Migrations as hosts run them: the statements of the core, one by one, on a connection of the application's driver.
use mysql_async::prelude::Queryable;
use ojs::JobRequest;
use ojs::outbox::{Dialect, Table, same_database};
use tokio_postgres::SimpleQueryMessage;

use super::app::{App, PATIENCE, connect, connect_mysql};

/// So many connections begin at the same time.
const PROCESSES: usize = 8;

/// Runs the statements one by one, as a driver in autocommit does: each is a transaction.
async fn migrate(app: &App, table: &Table) {
    let statements = app.dialect().migration(table);
    match app {
        App::Sqlite(directory) => {
            let connection = rusqlite::Connection::open(directory.path().join("app.db")).unwrap();
            connection.busy_timeout(PATIENCE).unwrap();
            statements.iter().for_each(|sql| connection.execute_batch(sql).unwrap());
        }
        App::Postgres(database) => {
            let connection = connect(database.url()).await;
            for sql in &statements {
                connection.batch_execute(sql).await.unwrap();
            }
        }
        App::Mysql(database) => {
            let mut connection = connect_mysql(database.url()).await;
            for sql in &statements {
                connection.query_drop(sql).await.unwrap();
            }
        }
    }
}

/// All begin with an empty database. Without the lock PostgreSQL answers `duplicate key value violates unique
/// constraint "pg_type_typname_nsp_index"` to most of them.
async fn processes_that_migrate_at_the_same_time_all_succeed(app: App) {
    let app = std::sync::Arc::new(app);
    let tables = ["ojs_outbox", "app_outbox"];
    for table in tables {
        let gate = std::sync::Arc::new(tokio::sync::Barrier::new(PROCESSES));
        let all = (0..PROCESSES).map(|_| {
            let (app, gate) = (std::sync::Arc::clone(&app), std::sync::Arc::clone(&gate));
            tokio::spawn(async move {
                gate.wait().await;
                migrate(&app, &Table::new(table).unwrap()).await;
            })
        });
        for one in all.collect::<Vec<_>>() {
            one.await.unwrap();
        }
        assert_eq!(app.ask(&format!("SELECT CAST(count(*) AS text) FROM {table}")).await, ["0"]);
    }
    // The relay's own migration is the same one.
    app.store().migrate().await.unwrap();
}

async fn the_query_for_staged_jobs_has_four_texts_by_name(app: App) {
    app.store().migrate().await.unwrap();
    let (_, client) = super::faulty_server().await;
    let (sql, id) = app.staged(&client, JobRequest::new("email.welcome", [1]).queue("mail").meta("k", "v")).await;
    app.run(&sql).await;
    let query = app.dialect().staged(&Table::default());
    let row = |name: &str| format!("SELECT {name} FROM ({}) staged", query.replace(" ORDER BY ojs_outbox.id", ""));
    assert_eq!(app.ask(&row("id")).await, [id]);
    assert_eq!(app.ask(&row("type")).await, ["email.welcome"]);
    assert_eq!(app.ask(&row("args")).await, ["[1]"]);
    let options: serde_json::Value = serde_json::from_str(&app.ask(&row("options")).await[0]).unwrap();
    assert_eq!(options, serde_json::json!({"queue": "mail", "meta": {"k": "v"}}));
    assert_eq!(app.ask(&format!("SELECT CAST(count(*) AS text) FROM ({query}) staged")).await, ["1"]);
}

macro_rules! on_all {
    ($($name:ident),+ $(,)?) => {
        mod sqlite { $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)] async fn $name() {
            super::$name(super::App::Sqlite(tempfile::tempdir().unwrap())).await;
        })+ }
        mod postgres { $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)] async fn $name() {
            super::$name(super::App::Postgres(ojs_postgres_fixture::database())).await;
        })+ }
        mod mysql { $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)] async fn $name() {
            super::$name(super::App::Mysql(ojs_mariadb_fixture::database())).await;
        })+ }
    };
}

on_all!(processes_that_migrate_at_the_same_time_all_succeed, the_query_for_staged_jobs_has_four_texts_by_name);

/// The same form from the engine's own table, where queue and metadata have columns of their own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_inserted_into_the_engines_table_are_listed_in_the_same_form() {
    let database = ojs_postgres_fixture::database();
    let connection = connect(database.url()).await;
    // The columns that applications see; a server's own migration has more.
    let table = "CREATE TABLE ojs_jobs (seq bigserial PRIMARY KEY, id uuid, type text, args json, queue text, meta json, options json, body text)";
    connection.batch_execute(table).await.unwrap();
    for request in [
        r#"{"type":"a.b","args":[1],"id":"0190b6f0-3c52-7f00-8000-000000000001","meta":{"k":null},"options":{"queue":"mail","priority":3}}"#,
        r#"{"type":"a.b","args":[2],"id":"0190b6f0-3c52-7f00-8000-000000000002"}"#,
    ] {
        let (sql, values) = same_database::stage(request.as_bytes()).unwrap().texts(ojs::outbox::Style::Dollar);
        let typed: Vec<(&(dyn tokio_postgres::types::ToSql + Sync), tokio_postgres::types::Type)> =
            values.iter().map(|text| (text as _, tokio_postgres::types::Type::TEXT)).collect();
        connection.query_typed(&sql, &typed).await.unwrap();
    }
    let found = connection.simple_query(same_database::STAGED).await.unwrap();
    let rows: Vec<[String; 4]> = found
        .iter()
        .filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(["id", "type", "args", "options"].map(|name| row.get(name).unwrap().to_owned())),
            _ => None,
        })
        .collect();
    let options = |at: usize| serde_json::from_str::<serde_json::Value>(&rows[at][3]).unwrap();
    assert_eq!(rows[0][..3], ["0190b6f0-3c52-7f00-8000-000000000001", "a.b", "[1]"]);
    assert_eq!(options(0), serde_json::json!({"queue": "mail", "priority": 3, "meta": {"k": null}}));
    assert_eq!((rows.len(), options(1)), (2, serde_json::json!({})));
    assert_eq!(Dialect::Postgres.staged(&Table::default()).matches(" AS ").count(), 6);
}
