//! The fixture itself: databases of their own, restarts, and that nothing is left behind.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ojs_postgres_fixture::{Options, SERVER_VARIABLE, Server, Stop, database};
use tokio_postgres::{Client, NoTls};

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn setting(client: &Client, name: &str) -> String {
    client.query_one("SELECT current_setting($1)", &[&name]).await.unwrap().get(0)
}

#[tokio::test]
async fn every_test_has_a_database_of_its_own() {
    let (one, two) = (database(), database());
    let (in_one, in_two) = (connect(one.url()).await, connect(two.url()).await);
    in_one.batch_execute("CREATE TABLE t (n int)").await.unwrap();
    in_two.batch_execute("CREATE TABLE t (n int)").await.unwrap();
    assert_eq!(setting(&in_one, "fsync").await, "off");
    let name = one.name().to_owned();
    drop(one);
    let left = in_two.query("SELECT 1 FROM pg_database WHERE datname = $1", &[&name]).await.unwrap();
    assert!(left.is_empty(), "{name} is still there, although connected to");
}

#[tokio::test]
async fn a_durable_server_keeps_what_it_confirmed_over_a_crash() {
    let server = Server::start(&Options::durable().set("shared_buffers", "16MB")).unwrap();
    let database = server.database().unwrap();
    let client = connect(database.url()).await;
    assert_eq!(setting(&client, "fsync").await, "on");
    assert_eq!(setting(&client, "synchronous_commit").await, "on");
    assert_eq!(setting(&client, "shared_buffers").await, "16MB");
    client.batch_execute("CREATE TABLE t (n int); INSERT INTO t VALUES (1)").await.unwrap();
    for how in [Stop::Immediate, Stop::Fast] {
        server.stop(how).unwrap();
        assert!(tokio_postgres::connect(database.url(), NoTls).await.is_err(), "it does not answer after {how:?}");
        server.start_again().unwrap();
        let rows = connect(database.url()).await.query("SELECT n FROM t", &[]).await.unwrap();
        assert_eq!(rows.len(), 1, "after {how:?}");
    }
    assert!(client.is_closed());
}

#[test]
fn nothing_is_left_of_a_server() {
    let server = Server::start(&Options::quick()).unwrap();
    let directory = server.socket().to_owned();
    assert!(directory.join("data").is_dir());
    let process = format!("/proc/{}", server.process().unwrap());
    assert!(Path::new(&process).exists());
    drop(server);
    assert!(!directory.exists() && !Path::new(&process).exists());
}

/// Starts the wrapper with a shell that says where the server's files are.
fn wrapper(script: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_postgres-fixture"));
    command.env_remove(SERVER_VARIABLE).args(["--set", "work_mem=5MB", "--", "/bin/sh", "-c", script]);
    command
}

#[test]
fn the_wrapper_hands_the_server_over_and_passes_the_status_on() {
    let output = wrapper(&format!("echo \"${SERVER_VARIABLE}\"; exit 7")).output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
    let url = String::from_utf8(output.stdout).unwrap();
    assert!(url.starts_with("postgres://postgres@127.0.0.1:"), "{url}");
    let port = url.trim().trim_end_matches("/postgres").rsplit(':').next().unwrap();
    assert!(std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_err(), "the server is still there");
}

#[test]
fn the_wrapper_gives_a_command_a_database_of_its_own() {
    let fixture = env!("CARGO_BIN_EXE_postgres-fixture");
    let output = wrapper(&format!("for n in 1 2; do {fixture} --database -- echo 'at {{database}}'; done")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let urls: Vec<_> = text.lines().map(|line| line.strip_prefix("at postgres://").unwrap()).collect();
    assert_eq!(urls.len(), 2, "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert_ne!(urls[0], urls[1]);
}

#[test]
fn a_killed_process_leaves_no_server() {
    let mut child = wrapper(&format!("echo \"${SERVER_VARIABLE}\"; read -r wait"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut url).unwrap();
    let directory = server_directory(url.trim());
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    let deadline = Instant::now() + Duration::from_secs(60);
    while Path::new(&directory).exists() {
        assert!(Instant::now() < deadline, "{directory} is still there");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn server_directory(url: &str) -> String {
    tokio::runtime::Runtime::new().unwrap().block_on(async { setting(&connect(url).await, "unix_socket_directories").await })
}
