//! The check of relays, and the list of them, with a relay that is a real process.
use std::process::Stdio;

use ojs_tests::{ServerProcess, until};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use super::{report, run, warned};
use crate::common::{json_of, says};

const CHECK: &str = "outbox.relays";

/// What a relay says of itself.
async fn beat(server: &ServerProcess, id: &str, more: Value) {
    let mut beat = json!({"id": id, "name": "shop-1", "database": "postgresql", "outbox": "ojs_outbox"});
    beat.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    server.connect().await.post("/relays/beat", &beat).await.expect(200);
}

/// What has taken so long has happened: it changes the file under the server.
fn half_a_minute_passes(server: &ServerProcess) {
    let file = rusqlite::Connection::open(server.directory().join("jobs.db")).unwrap();
    file.busy_timeout(ojs_tests::PATIENCE).unwrap();
    assert!(file.execute("UPDATE relays SET beat_at = beat_at - 30000", []).unwrap() > 0);
}

#[tokio::test]
async fn the_doctor_names_a_relay_that_is_stuck() {
    let server = ServerProcess::memory().await;
    let url = server.url();
    assert_eq!(warned(&url, CHECK).await, None, "no relay");
    beat(&server, "r1", json!({"waiting": 3, "oldest_waiting_ms": 5_000})).await;
    assert_eq!(warned(&url, CHECK).await, None, "a row of a moment ago");
    let stuck = json!({"waiting": 10_000, "waiting_more": true, "oldest_waiting_ms": 180_000, "error": "no route to the server"});
    beat(&server, "r1", stuck).await;
    let (said, command) = warned(&url, CHECK).await.unwrap();
    let expected =
        "relay 'shop-1' of 'ojs_outbox' in postgresql is stuck: 10000+ rows wait, the oldest for 3 min: no route to the server";
    assert_eq!(said, expected);
    run(&url, &command).await;
    beat(&server, "r1", json!({"waiting": 3, "oldest_waiting_ms": 50, "parked": 2})).await;
    let (said, _) = warned(&url, CHECK).await.unwrap();
    assert!(said.contains("refused 2 rows for good") && said.contains("ojs relay parked"), "{said}");
    beat(&server, "r1", json!({})).await;
    assert_eq!(warned(&url, CHECK).await, None);
}

#[tokio::test]
async fn the_doctor_names_a_relay_that_is_silent_unless_another_one_is_in_its_place() {
    let server = ServerProcess::sqlite().await;
    let url = server.url();
    beat(&server, "r1", json!({})).await;
    assert_eq!(warned(&url, CHECK).await, None);
    half_a_minute_passes(&server);
    let (said, command) = warned(&url, CHECK).await.unwrap();
    assert!(said.starts_with("relay 'shop-1' of 'ojs_outbox' in postgresql has been silent for 3"), "{said}");
    run(&url, &command).await;
    assert!(says(&server, &["relays", "--state", "silent"]).await.contains("shop-1"));
    beat(&server, "r2", json!({})).await;
    let found = report(&url, &["--only", CHECK]).await;
    assert_eq!((&found["findings"][0]["level"], &found["problems"]), (&json!("note"), &json!(0)), "{found}");
    beat(&server, "r1", json!({"stopping": true})).await;
    assert_eq!(warned(&url, CHECK).await, None);
}

fn relay(server: &ServerProcess, app: &std::path::Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ojs"));
    command.args(["relay", "--database", &format!("sqlite:{}", app.display())]).args(arguments);
    command.env("OJS_URL", server.url()).env_remove("OJS_AUTH_TOKEN").kill_on_drop(true).stdout(Stdio::null());
    command
}

async fn listed(server: &ServerProcess) -> Vec<Value> {
    json_of(server, &["relays"]).await["items"].as_array().unwrap().clone()
}

/// A relay with a row that the server refuses, and one that it takes.
async fn started(server: &ServerProcess, app: &std::path::Path) -> Child {
    rusqlite::Connection::open(app).unwrap().execute_batch("CREATE TABLE users (id)").unwrap();
    assert!(relay(server, app, &["migrate"]).status().await.unwrap().success());
    let rows = "INSERT INTO ojs_outbox (job_type, job_args) VALUES ('a', '[1]');
        INSERT INTO ojs_outbox (job_type, job_args, job_options) VALUES ('a', '[2]', '[]')";
    rusqlite::Connection::open(app).unwrap().execute_batch(rows).unwrap();
    relay(server, app, &["run", "--poll-interval", "20", "--name", "shop-7"]).spawn().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_relay_is_listed_while_it_runs() {
    let (server, directory) = (ServerProcess::memory().await, tempfile::tempdir().unwrap());
    let mut child = started(&server, &directory.path().join("app.db")).await;
    let told = async || listed(&server).await.first().is_some_and(|row| row["sent"] == 1).then_some(());
    until("it has told that it sent a row", told).await;
    let row = listed(&server).await.remove(0);
    assert_eq!((&row["name"], &row["database"], &row["outbox"]), (&json!("shop-7"), &json!("sqlite"), &json!("ojs_outbox")));
    let table = says(&server, &["relays"]).await;
    assert!(table.starts_with("RELAY") && table.contains("shop-7") && table.contains("running"), "{table}");
    let process = rustix::process::Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
    assert_eq!(listed(&server).await, Vec::<Value>::new(), "it has taken leave");
}
