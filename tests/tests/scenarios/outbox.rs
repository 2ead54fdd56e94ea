//! The outbox's relay as a process that dies at the worst moment.
use std::process::Stdio;

use ojs::{Client, Worker};
use ojs_tests::{ServerProcess, binary, until};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio_postgres::NoTls;

use super::proxy::{Mode, Proxy};

const ROWS: u64 = 50;

/// `ojs relay`, against a server and an application's database.
fn relay(server: &str, database: &str, action: &str) -> Command {
    let mut command = Command::new(binary());
    command
        .args(["relay", action, "--database", database])
        .env("OJS_URL", server)
        .env_remove("OJS_AUTH_TOKEN")
        .kill_on_drop(true);
    command
}

async fn run(server: &str, database: &str) -> Child {
    let mut child =
        relay(server, database, "run").args(["--poll-interval=20", "--log-level=error"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).await.unwrap();
    assert_eq!(line, "relaying\n");
    child
}

/// The jobs are stored, their answer is lost, the relay is killed before it knows; the jobs run to their end. The next relay sends
/// all of them again: the server has their ids, of jobs that have ended too, and none runs a second time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_45_a_relay_dies_between_the_send_and_the_mark() {
    let server = ServerProcess::sqlite().await;
    let proxy = Proxy::start(server.address()).await;
    let database = ojs_postgres_fixture::database();
    let (app, connection) = tokio_postgres::connect(database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    assert!(relay(&server.url(), database.url(), "migrate").stdout(Stdio::null()).status().await.unwrap().success());

    let mut first = run(&proxy.url(), database.url()).await;
    proxy.set(Mode::Deaf);
    let insert =
        format!("INSERT INTO ojs_outbox (job_type, job_args) SELECT 'test.plain', '[1]' FROM generate_series(1, {ROWS})");
    app.batch_execute(&insert).await.unwrap();
    let client = Client::connect(&server.url()).await.unwrap();
    let stats = || async { client.queue_stats("default").await.unwrap() };
    until("the server has the jobs", || async { (stats().await.available == ROWS).then_some(()) }).await;
    first.kill().await.unwrap();
    let unsent = || async {
        let sql = "SELECT count(*) FROM ojs_outbox WHERE status <> 'sent'";
        app.query_one(sql, &[]).await.unwrap().get::<_, i64>(0).unsigned_abs()
    };
    assert_eq!(unsent().await, ROWS, "the relay has heard of nothing");

    let worker = Worker::for_client(&client);
    worker.register("test.plain", |_| async { Ok(()) }).unwrap();
    let worker = worker.start();
    until("all jobs have run", || async { (stats().await.completed == ROWS).then_some(()) }).await;

    let second = run(&server.url(), database.url()).await;
    until("all rows are marked", || async { (unsent().await == 0).then_some(()) }).await;
    drop(second);
    let after = stats().await;
    assert_eq!((after.completed, after.available, after.active, after.scheduled), (ROWS, 0, 0, 0));
    worker.shutdown(None).await;
}
