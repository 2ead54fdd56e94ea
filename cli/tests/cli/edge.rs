//! Secrets that must not be printed, keys files that several processes change, and silent clients of both servers.
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use ojs_tests::ServerProcess;
use serde_json::{Value, json};

/// Stands for a password, a key and an argument. `scripts/secrets.py` looks for it in the logs of all suites.
const PLANTED: &str = "planted-5ecret";
/// More than a loaded machine needs for anything here.
const PATIENCE: Duration = Duration::from_secs(60);

fn ojs(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ojs"));
    command.args(arguments).env_remove("OJS_URL");
    command
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Nothing planted is in it; the check of all suites reads it again.
#[track_caller]
fn keeps_secrets(what: &str, text: &str) {
    if let Some(folder) = std::env::var_os("OJS_TEST_LOGS") {
        std::fs::write(Path::new(&folder).join(format!("planted-{what}.log")), text).unwrap();
    }
    assert!(!text.is_empty() && !text.contains(PLANTED), "{what}: {text}");
}

#[test]
fn commands_print_addresses_without_passwords() {
    let mut all = String::new();
    for (scheme, arguments) in [
        ("postgres", vec!["server", "--log-level", "trace", "--store"]),
        ("mongodb", vec!["server", "--store"]),
        ("postgres", vec!["migrate", "--store"]),
        ("oracle", vec!["migrate", "--store"]),
        ("postgres", vec!["doctor", "--store"]),
        ("oracle", vec!["doctor", "--store"]),
        ("postgres", vec!["relay", "status", "--database"]),
        ("mysql", vec!["relay", "status", "--database"]),
        ("mongodb", vec!["relay", "status", "--database"]),
    ] {
        for url in [
            format!("{scheme}://app:{PLANTED}@127.0.0.1:1/jobs"),
            format!("{scheme}://app:{PLANTED}@127.0.0.1:port/jobs"),
            format!("{scheme}://app:a@{PLANTED}@127.0.0.1:1/jobs?none={PLANTED}@b"),
        ] {
            let output = ojs(&arguments).arg(&url).output().unwrap();
            assert!(!output.status.success(), "{arguments:?} {url}");
            all.push_str(&said(&output));
        }
    }
    keeps_secrets("commands", &all);
    let help = ojs(&["server", "--help"]).env("OJS_STORE", format!("postgres://app:{PLANTED}@db/jobs")).output().unwrap();
    keeps_secrets("help", &said(&help));
}

#[tokio::test]
async fn a_server_on_postgresql_prints_neither_password_nor_arguments() {
    let database = ojs_postgres_fixture::database();
    // A parameter of the URL that is secret by its name, and that PostgreSQL takes for what it is.
    let url = database.url();
    let with = format!("{url}{}password={PLANTED}", if url.contains('?') { '&' } else { '?' });
    let server = ServerProcess::on(&with, &["--log-level", "trace", "--log-jobs"]).await;
    let mut wire = server.connect().await;
    wire.post("/jobs", &json!({"type": "test.secret", "args": [PLANTED], "meta": {"note": PLANTED}})).await.expect(201);
    let fetched = wire.post("/workers/fetch", &json!({"queues": ["default"], "worker_id": "w"})).await.expect(200).json();
    wire.post("/workers/ack", &json!({"job_id": fetched["jobs"][0]["id"], "result": PLANTED})).await.expect(200);
    let log =
        ojs_tests::until("the job is done", || async { Some(server.log()).filter(|log| log.contains("job.completed")) }).await;
    keeps_secrets("server", &log);
    assert!(!log.contains("tokio_postgres"), "libraries say nothing unless they are named: {log}");
    let migrate = ojs(&["migrate", "--store", &with]).output().unwrap();
    keeps_secrets("migrate", &said(&migrate));
}

fn add(file: &Path, name: &str) -> Child {
    let file = file.to_str().unwrap();
    let mut command = ojs(&["keys", "--keys", file, "add", name, "--role", "producer"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Twenty processes add, others revoke, and a server reads the file all the while.
#[tokio::test]
async fn keys_that_are_added_side_by_side_all_work() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.json");
    assert!(add(&file, "old").wait().unwrap().success());
    let server = ServerProcess::start("memory", &["--keys", file.to_str().unwrap()]).await;
    let adding: Vec<Child> = (0..20).map(|number| add(&file, &format!("k{number}"))).collect();
    let mut revoking = ojs(&["keys", "--keys", file.to_str().unwrap(), "revoke", "old"]).stdout(Stdio::null()).spawn().unwrap();
    let mut keys = Vec::new();
    for child in adding {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        keys.push(String::from_utf8(output.stdout).unwrap().trim().to_owned());
    }
    assert!(revoking.wait().unwrap().success());
    let held: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(held["keys"].as_array().unwrap().len(), 20);
    for key in keys {
        ojs_tests::until("the server knows the key", || async {
            let mut wire = server.connect().await;
            let head = format!("GET /ojs/v1/jobs/x HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {key}\r\n\r\n");
            wire.send(head).await.unwrap();
            (wire.answer().await.unwrap().status == 404).then_some(())
        })
        .await;
    }
    let log = server.log();
    assert!(!log.contains("stay as they were"), "no half-written file was ever seen: {log}");
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 2, "the keys and their lock");
}

/// 200 heads that are never finished, idle HTTP/2 and idle HTTP/1, which are all the connections that a server takes:
/// all are closed, and it answers.
fn closes_what_is_silent(mut command: Command) {
    const MANY: usize = 200;
    command.args(["--listen", "127.0.0.1:0", "--header-timeout", "1", "--idle-timeout", "1", "--write-timeout", "1"]);
    command.args(["--max-connections", "200"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address: SocketAddr = line.trim().strip_prefix("listening on http://").unwrap().parse().unwrap();
    let said: [&[u8]; 3] = [
        b"GET /health HTTP/1.1\r\nHost: localh",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ];
    let connect = |bytes: &[u8]| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(bytes).unwrap();
        stream
    };
    let silent: Vec<TcpStream> = (0..MANY).map(|number| connect(said[number % said.len()])).collect();
    let mut answer = String::new();
    connect(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    for mut stream in silent {
        // A reset is a way to close.
        if let Err(error) = stream.read_to_end(&mut Vec::new()) {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_server_closes_what_is_silent() {
    closes_what_is_silent(ojs(&["server", "--store", "memory:"]));
}

#[test]
fn the_codec_server_closes_what_is_silent() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("viewers.json");
    assert!(add(&file, "ada").wait().unwrap().success());
    let mut command = ojs(&["codec-server", "--keys", file.to_str().unwrap()]);
    command.env("OJS_ENCRYPTION_KEYS", format!("k-1:{}", "02".repeat(32)));
    closes_what_is_silent(command);
}
