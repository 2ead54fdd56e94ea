//! The relay under fire: writers with random pauses, rollbacks and savepoints, relays killed with `kill -9`, a foreign transaction held
//! open. Nothing is lost, nothing runs twice, nothing is overtaken.
//!
//! `OJS_SOAK_ROWS` sets the number of transactions per writer.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]
use std::process::Stdio;
use std::time::{Duration, Instant};

use ojs_tests::ServerProcess;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

const WRITERS: u64 = 8;
const PATIENCE: Duration = Duration::from_secs(120);

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

async fn connect(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn relay(server: &ServerProcess, database: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ojs"));
    command.args(["relay", "run", "--poll-interval", "20", "--log-level", "error"]).env("OJS_URL", server.url());
    command.env("OJS_OUTBOX_DATABASE", database).env_remove("OJS_AUTH_TOKEN").kill_on_drop(true).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).await.unwrap();
    assert_eq!(line, "relaying\n");
    child
}

/// One writer: a pause before the row, a pause after it, now and then a rollback or a savepoint that is rolled back.
async fn write(database: String, writer: u64, transactions: u64) {
    let client = connect(&database).await;
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ (writer + 1));
    let pause = |millis: u64| tokio::time::sleep(Duration::from_millis(millis));
    for number in 0..transactions {
        let insert = |part: u64| {
            format!(
                "INSERT INTO ojs_outbox (job_type, job_args) VALUES ('fire', '[{}]')",
                (writer * transactions + number) * 10 + part
            )
        };
        client.batch_execute("BEGIN").await.unwrap();
        pause(dice.roll(3)).await;
        client.batch_execute(&insert(0)).await.unwrap();
        if dice.roll(10) == 0 {
            client.batch_execute(&format!("SAVEPOINT s; {}; ROLLBACK TO s", insert(1))).await.unwrap();
        }
        if dice.roll(10) == 0 {
            client.batch_execute(&format!("SAVEPOINT s; {}; RELEASE s", insert(2))).await.unwrap();
        }
        pause(dice.roll(5)).await;
        let end = if dice.roll(20) == 0 { "ROLLBACK" } else { "COMMIT" };
        client.batch_execute(end).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_doubled_or_overtaken() {
    let transactions = std::env::var("OJS_SOAK_ROWS").ok().map_or(150, |rows| rows.parse().unwrap());
    let server = ServerProcess::memory().await;
    let database = ojs_postgres_fixture::database();
    let url = database.url().to_owned();
    let migrated = Command::new(env!("CARGO_BIN_EXE_ojs")).args(["relay", "migrate", "--database", &url]).output().await.unwrap();
    assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
    let admin = connect(&url).await;
    // Another application's transaction, open all the time: it has an id, and no row in the outbox.
    let elsewhere = connect(&url).await;
    elsewhere.batch_execute("CREATE TABLE other (x int); BEGIN; INSERT INTO other VALUES (1)").await.unwrap();

    let writers: Vec<_> = (0..WRITERS).map(|writer| tokio::spawn(write(url.clone(), writer, transactions))).collect();
    let mut relays = [relay(&server, &url).await, relay(&server, &url).await];
    let mut dice = Dice(0x5bd1_e995);
    let mut kills = 0;
    while writers.iter().any(|writer| !writer.is_finished()) || kills < 4 {
        tokio::time::sleep(Duration::from_millis(100 + dice.roll(300))).await;
        let victim = usize::try_from(dice.roll(2)).unwrap();
        relays[victim].start_kill().unwrap();
        relays[victim].wait().await.unwrap();
        relays[victim] = relay(&server, &url).await;
        kills += 1;
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let deadline = Instant::now() + PATIENCE;
    while admin.query("SELECT 1 FROM ojs_outbox WHERE status <> 'sent' LIMIT 1", &[]).await.unwrap().len() == 1 {
        assert!(Instant::now() < deadline, "the outbox is not empty");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    let rows = admin.query("SELECT job_args::text FROM ojs_outbox ORDER BY id", &[]).await.unwrap();
    let inserted: Vec<i64> = rows.iter().map(|row| serde_json::from_str::<[i64; 1]>(row.get(0)).unwrap()[0]).collect();
    assert!(inserted.len() as u64 > transactions * WRITERS / 2);
    let mut wire = server.connect().await;
    let mut arrived = Vec::new();
    loop {
        let fetched =
            wire.post("/workers/fetch", &json!({"queues": ["default"], "count": 100, "worker_id": "w"})).await.expect(200).json();
        let jobs = fetched["jobs"].as_array().unwrap();
        if jobs.is_empty() {
            break;
        }
        arrived.extend(jobs.iter().map(|job| job["args"][0].as_i64().unwrap()));
    }
    assert_eq!(arrived.len(), inserted.len(), "after {kills} kills");
    assert!(arrived == inserted, "the order is another");
}
