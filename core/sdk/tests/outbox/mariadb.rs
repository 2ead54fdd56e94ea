//! What MySQL and MariaDB do in their own way: numbers before the commit, a gate of rows, JSON as text, rights.
use std::sync::Arc;
use std::time::{Duration, Instant};

use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use ojs::outbox::{Dialect, MysqlOutbox, Relay, Store, Style, Table, Value};
use ojs::{Client, JobRequest};

use super::{App, PATIENCE, connect_mysql, drained, faulty_server, quick, until};

const WRITERS: i64 = 16;
const TRANSACTIONS: i64 = 60;

async fn stage(connection: &mut Conn, client: &Client, request: JobRequest) -> String {
    let staged = client.stage(request, Dialect::Mysql, &Table::default()).await.unwrap().unwrap();
    let (sql, values) = staged.statement(Style::Question);
    let values: Vec<String> = values
        .into_iter()
        .map(|value| match value {
            Value::Text(text) => text,
            other => panic!("{other:?}"),
        })
        .collect();
    connection.exec_drop(sql, values).await.unwrap();
    staged.job_id
}

/// Random enough, and the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// Transactions of one to three rows with pauses in between; some are rolled back, some to a savepoint.
async fn write(mut connection: Conn, client: Client, writer: i64) {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ (writer as u64 + 1));
    for number in 0..TRANSACTIONS {
        connection.query_drop("BEGIN").await.unwrap();
        for part in 0..=dice.roll(3) {
            tokio::time::sleep(Duration::from_millis(dice.roll(3))).await;
            let savepoint = dice.roll(4);
            if savepoint < 2 {
                connection.query_drop("SAVEPOINT s").await.unwrap();
            }
            stage(&mut connection, &client, JobRequest::new("a", [(writer * TRANSACTIONS + number) * 10 + part as i64])).await;
            match savepoint {
                0 => connection.query_drop("ROLLBACK TO SAVEPOINT s").await.unwrap(),
                1 => connection.query_drop("RELEASE SAVEPOINT s").await.unwrap(),
                _ => {}
            }
        }
        tokio::time::sleep(Duration::from_millis(dice.roll(6))).await;
        connection.query_drop(if dice.roll(15) == 0 { "ROLLBACK" } else { "COMMIT" }).await.unwrap();
    }
}

/// A relay on a runtime of its own: it can be ended at once, as by `kill -9`.
fn relay(client: &Client, url: &str) -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let store = Store::new(Table::default(), MysqlOutbox::new(url).unwrap());
    let entered = runtime.enter();
    // Its task goes on when the handle is gone.
    drop(Relay::start(client.clone(), store, quick()));
    drop(entered);
    runtime
}

/// Scenarios 42, 43 with sixteen writers, and 45: relays that vanish with the lease in their hands.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_writers_and_relays_that_are_killed_lose_and_reorder_nothing() {
    let app = App::Mysql(ojs_mariadb_fixture::database());
    let App::Mysql(database) = &app else { unreachable!() };
    let (server, client) = faulty_server().await;
    app.store().migrate().await.unwrap();
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        writers.push(tokio::spawn(write(connect_mysql(database.url()).await, client.clone(), writer)));
    }
    let mut relays = [relay(&client, database.url()), relay(&client, database.url())];
    let mut kills = 0;
    while writers.iter().any(|writer| !writer.is_finished()) || kills < 4 {
        let seen = server.order.lock().unwrap().len();
        let deadline = Instant::now() + Duration::from_millis(700);
        until("rows are sent, or no relay leads", || async {
            server.order.lock().unwrap().len() > seen + 50 || Instant::now() > deadline
        })
        .await;
        std::mem::replace(&mut relays[kills % 2], relay(&client, database.url())).shutdown_background();
        kills += 1;
    }
    for writer in writers {
        writer.await.unwrap();
    }
    drained(&app).await;
    for relay in relays {
        relay.shutdown_background();
    }
    let inserted: Vec<i64> = app
        .ask("SELECT CAST(job_args AS CHAR) FROM ojs_outbox ORDER BY id")
        .await
        .iter()
        .map(|args| serde_json::from_str::<[i64; 1]>(args).unwrap()[0])
        .collect();
    assert!(inserted.len() as i64 > WRITERS * TRANSACTIONS / 2);
    let mut arrived = server.order.lock().unwrap().clone();
    let mut seen = std::collections::HashSet::new();
    arrived.retain(|number| seen.insert(*number));
    assert_eq!(arrived.len(), inserted.len(), "after {kills} kills");
    assert!(arrived == inserted, "the order is another");
    assert_eq!(client.queue_stats("default").await.unwrap().available, inserted.len() as u64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_survives_a_connection_of_a_smaller_alphabet() {
    let app = App::Mysql(ojs_mariadb_fixture::database());
    let App::Mysql(database) = &app else { unreachable!() };
    let (_, client) = faulty_server().await;
    app.store().migrate().await.unwrap();
    let mut connection = connect_mysql(database.url()).await;
    connection.query_drop("SET NAMES latin1").await.unwrap();
    let written = r#"[123456789012345678901234567890,1.50,"ä€😀\\u00e4\"\u0000",{"b":[[]],"a":{}}]"#;
    let args = serde_json::value::RawValue::from_string(written.to_owned()).unwrap();
    let id = stage(&mut connection, &client, JobRequest::new("a", &args).meta("name", "Zoë 🚀")).await;
    let relay = Relay::start(client.clone(), app.store(), quick());
    drained(&app).await;
    relay.stop(PATIENCE).await;
    let job = client.get_job(&id).await.unwrap();
    let escaped = written.replace('ä', r"\u00e4").replace('€', r"\u20ac").replace('😀', r"\ud83d\ude00");
    assert_eq!(job.args.as_str(), escaped);
    let meta: serde_json::Value = serde_json::from_str(job.meta.as_str()).unwrap();
    assert_eq!(meta["name"], "Zoë 🚀");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ordinary_rights_are_enough_and_an_emptied_gate_is_made_whole() {
    let app = App::Mysql(ojs_mariadb_fixture::database());
    let App::Mysql(database) = &app else { unreachable!() };
    let (server, client) = faulty_server().await;
    app.store().migrate().await.unwrap();
    let (name, user) = (database.name(), format!("u_{}", database.name()));
    for (suffix, rights) in [("w", "SELECT, INSERT"), ("r", "SELECT, INSERT, UPDATE, DELETE")] {
        app.run(&format!("CREATE USER '{user}_{suffix}'@'127.0.0.1' IDENTIFIED BY 'x'; GRANT {rights} ON {name}.* TO '{user}_{suffix}'@'127.0.0.1'"))
            .await;
    }
    let url = |suffix: &str| database.url().replace("ojs:ojs@", &format!("{user}_{suffix}:x@"));
    // A test suite has emptied all tables.
    app.run("TRUNCATE ojs_outbox_gate").await;
    let mut writer = connect_mysql(&url("w")).await;
    stage(&mut writer, &client, JobRequest::new("a", [1])).await;
    let store = Store::new(Table::default(), MysqlOutbox::new(&url("r")).unwrap());
    let relay = Relay::start(client.clone(), store, quick());
    drained(&app).await;
    assert_eq!(app.ask("SELECT CAST(COUNT(*) AS CHAR) FROM ojs_outbox_gate").await, ["256"]);
    relay.stop(PATIENCE).await;
    assert_eq!(*server.order.lock().unwrap(), [1]);
    app.run(&format!("DROP USER '{user}_w'@'127.0.0.1', '{user}_r'@'127.0.0.1'")).await;
}

/// The gate holds back what a look at uncommitted rows cannot show: a transaction that has the lock and has not inserted yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_in_the_gate_is_waited_for() {
    let app = App::Mysql(ojs_mariadb_fixture::database());
    let App::Mysql(database) = &app else { unreachable!() };
    let (server, client) = faulty_server().await;
    app.store().migrate().await.unwrap();
    let mut slow = connect_mysql(database.url()).await;
    slow.query_drop("BEGIN; SELECT slot FROM ojs_outbox_gate WHERE slot = 7 LOCK IN SHARE MODE").await.unwrap();
    let mut quickly = connect_mysql(database.url()).await;
    stage(&mut quickly, &client, JobRequest::new("a", [1])).await;
    let relay = Arc::new(Relay::start(client.clone(), app.store(), quick()));
    until("a relay leads", || async { relay.status().leading }).await;
    let looks = Instant::now() + Duration::from_millis(200);
    until("some time has passed", || async { Instant::now() > looks }).await;
    assert_eq!(relay.status().sent, 0);
    slow.query_drop("ROLLBACK").await.unwrap();
    drained(&app).await;
    assert_eq!(*server.order.lock().unwrap(), [1]);
    Arc::into_inner(relay).unwrap().stop(PATIENCE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_start_together_make_the_tables_once() {
    let database = ojs_mariadb_fixture::database();
    let all = (0..8).map(|_| {
        let store = Store::new(Table::default(), MysqlOutbox::new(database.url()).unwrap());
        tokio::spawn(async move { store.migrate().await })
    });
    for one in all.collect::<Vec<_>>() {
        one.await.unwrap().unwrap();
    }
}
