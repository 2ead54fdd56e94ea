//! `ojs relay` as a process: what it says, what it sends, and who goes on when it is killed.
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use ojs_tests::ServerProcess;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

const PATIENCE: Duration = Duration::from_secs(120);

fn ojs(server: &ServerProcess, app: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ojs"));
    command.arg("relay").env("OJS_URL", server.url()).env("OJS_OUTBOX_DATABASE", format!("sqlite:{}", app.display()));
    command.env_remove("OJS_AUTH_TOKEN").kill_on_drop(true);
    command
}

async fn says(mut command: Command, status: i32) -> String {
    let Output { status: found, stdout, stderr } = command.output().await.unwrap();
    let text = String::from_utf8([stdout, stderr].concat()).unwrap();
    assert_eq!(found.code(), Some(status), "{text}");
    text
}

async fn run(server: &ServerProcess, app: &Path) -> Child {
    let mut child = ojs(server, app).args(["run", "--poll-interval", "20"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).await.unwrap();
    assert_eq!(line, "relaying\n");
    child
}

fn insert(app: &Path, options: &str) {
    let connection = rusqlite::Connection::open(app).unwrap();
    connection.busy_timeout(PATIENCE).unwrap();
    connection.execute("INSERT INTO ojs_outbox (job_type, job_args, job_options) VALUES ('a', '[1]', ?)", [options]).unwrap();
}

fn count(app: &Path, condition: &str) -> i64 {
    let connection = rusqlite::Connection::open(app).unwrap();
    connection.busy_timeout(PATIENCE).unwrap();
    connection.query_row(&format!("SELECT count(*) FROM ojs_outbox WHERE {condition}"), [], |row| row.get(0)).unwrap()
}

async fn until(what: &str, probe: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !probe() {
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn relays_takes_over_and_leaves_politely() {
    let server = ServerProcess::memory().await;
    let directory = tempfile::tempdir().unwrap();
    let app = directory.path().join("app.db");
    let mut command = ojs(&server, &app);
    command.arg("migrate");
    let refusal = says(command, 2).await;
    assert!(refusal.contains("there is no file"), "{refusal}");

    rusqlite::Connection::open(&app).unwrap().execute_batch("CREATE TABLE users (id)").unwrap();
    let mut command = ojs(&server, &app);
    command.arg("run");
    assert!(says(command, 2).await.contains("ojs relay migrate"));
    let mut command = ojs(&server, &app);
    command.arg("migrate");
    assert_eq!(says(command, 0).await, "ojs_outbox is ready\n");

    let mut first = run(&server, &app).await;
    insert(&app, "{}");
    until("the first relays", || count(&app, "status = 'sent'") == 1).await;
    let second = run(&server, &app).await;
    first.start_kill().unwrap();
    first.wait().await.unwrap();
    insert(&app, "{}");
    until("the second takes over", || count(&app, "status = 'sent'") == 2).await;

    insert(&app, r#"{"priority": 1000}"#);
    until("it is parked", || count(&app, "error IS NOT NULL AND attempts > 0") == 1).await;
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(i32::try_from(second.id().unwrap()).unwrap()).unwrap(),
        rustix::process::Signal::TERM,
    )
    .unwrap();
    assert_eq!(second.wait_with_output().await.unwrap().status.code(), Some(0));
    assert_eq!(count(&app, "status <> 'sent'"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parked_rows_are_listed_replayed_and_dropped() {
    let server = ServerProcess::memory().await;
    let directory = tempfile::tempdir().unwrap();
    let app = directory.path().join("app.db");
    rusqlite::Connection::open(&app).unwrap().execute_batch("CREATE TABLE users (id)").unwrap();
    let relay = |arguments: &'static [&'static str]| {
        let mut command = ojs(&server, &app);
        command.args(arguments);
        command
    };
    says(relay(&["migrate"]), 0).await;
    insert(&app, "{}");
    insert(&app, "{}");
    let connection = rusqlite::Connection::open(&app).unwrap();
    connection.execute_batch("UPDATE ojs_outbox SET status = 'failed', error = 'no such queue', attempts = 5, parked_at = '2026-01-01T00:00:00.000Z'").unwrap();
    assert_eq!(says(relay(&["status"]), 0).await, "0 waiting, the oldest for 0.0 s; 2 parked\n");
    assert!(says(relay(&["parked"]), 0).await.contains("no such queue"));
    assert_eq!(says(relay(&["replay", "1"]), 0).await, "replayed 1\n");
    assert!(says(relay(&["replay", "1"]), 1).await.contains("no parked row 1"));
    assert_eq!(says(relay(&["drop", "--all", "--json"]), 0).await, "{\"dropped\":1}\n");
    assert_eq!(says(relay(&["status", "--json"]), 0).await.matches("\"pending\":1").count(), 1);
    assert!(says(relay(&["drop"]), 2).await.contains("required"));
}
