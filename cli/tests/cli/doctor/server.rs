//! Checks of the server's process, its exposure, its clock; and of one that hangs.
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use ojs_tests::{ServerProcess, until};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{report, run, warned, wrong};
use crate::common::{ojs, says};

/// A proxy in front of a server, on a port that the system chose. `change` gets the path and the answer, and returns
/// the answer to send; `None` leaves the request without an answer.
async fn proxy(server: SocketAddr, change: fn(&str, String) -> Option<String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (client, _) = listener.accept().await.unwrap();
            tokio::spawn(pass(client, server, change));
        }
    });
    format!("http://{address}")
}

async fn pass(mut client: TcpStream, server: SocketAddr, change: fn(&str, String) -> Option<String>) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        if client.read_exact(&mut byte).await.is_err() {
            return;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap().to_owned();
    let request = head.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    let mut upstream = TcpStream::connect(server).await.unwrap();
    upstream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    upstream.read_to_string(&mut answer).await.unwrap();
    match change(&path, answer) {
        Some(answer) => drop(client.write_all(answer.as_bytes()).await),
        None => std::future::pending().await,
    }
}

#[tokio::test]
async fn the_doctor_cuts_a_check_that_hangs_and_names_it() {
    let server = ServerProcess::memory().await;
    let hangs = |path: &str, answer: String| (!path.contains("/cron")).then_some(answer);
    let url = proxy(server.address(), hangs).await;
    let began = Instant::now();
    let report = report(&url, &[]).await;
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    let cut: Vec<_> = report["findings"].as_array().unwrap().iter().filter(|found| found["level"] == "error").collect();
    assert_eq!(cut.len(), 1, "{report}");
    assert_eq!(
        (&cut[0]["check"], &cut[0]["message"]),
        (&json!("cron.missed"), &json!("the check could not be done: it did not end within 5 s"))
    );
}

#[tokio::test]
async fn the_doctor_compares_the_clock_of_the_server() {
    let server = ServerProcess::memory().await;
    let later = |path: &str, answer: String| {
        // Both lengths are the same: the body keeps its size.
        let at = answer.find("\"computed_at\":\"").filter(|_| path.contains("/stats")).map(|at| at + 15);
        Some(at.map_or_else(|| answer.clone(), |at| format!("{}2099{}", &answer[..at], &answer[at + 4..])))
    };
    let url = proxy(server.address(), later).await;
    let (said, command) = warned(&url, "clock.skew").await.unwrap();
    assert!(said.contains("schedules will be off. Use NTP on both") && command.contains("set-ntp"), "{said}");
    // A machine that is busy for a moment seems to have another clock.
    until("the clocks agree", || async { warned(&server.url(), "clock.skew").await.is_none().then_some(()) }).await;
}

#[tokio::test]
async fn the_doctor_says_what_is_wrong_when_no_server_answers() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let output = ojs(&url, &["doctor", "--json"]).await;
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let (said, command) = wrong(&report).unwrap();
    assert!(said.contains("cannot connect") && command == "ojs server", "{said}");
    let server = ServerProcess::memory().await;
    assert_eq!(warned(&server.url(), "server.health").await, None);
}

#[tokio::test]
async fn the_doctor_names_test_mode_and_keys_that_others_read() {
    let server = ServerProcess::memory().await;
    assert_eq!(warned(&server.url(), "server.exposed").await, None);
    let tested = ServerProcess::start("memory", &["--test-mode"]).await;
    assert!(warned(&tested.url(), "server.exposed").await.unwrap().0.contains("--test-mode: anyone"));
    let keys = server.directory().join("keys.json");
    let keys = keys.to_str().unwrap();
    says(&server, &["keys", "add", "shop", "--role", "producer", "--keys", keys]).await;
    let look = ["--only", "server.exposed", "--keys", keys];
    assert_eq!(wrong(&report(&server.url(), &look).await), None);
    std::fs::set_permissions(keys, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let (said, command) = wrong(&report(&server.url(), &look).await).unwrap();
    assert!(said.contains("(mode 644)"), "{said}");
    run(&server.url(), &command).await;
    assert_eq!(wrong(&report(&server.url(), &look).await), None, "the command cleared it");
    let text = std::fs::read_to_string(keys).unwrap();
    let year = text.find("\"created_at\"").and_then(|at| text[at..].find("20").map(|more| at + more)).unwrap();
    std::fs::write(keys, format!("{}2019{}", &text[..year], &text[year + 4..])).unwrap();
    let (said, command) = wrong(&report(&server.url(), &look).await).unwrap();
    assert!(said.contains("the key 'shop' is older than a year"), "{said}");
    run(&server.url(), &command).await;
}

#[tokio::test]
async fn the_doctor_names_a_server_with_few_open_files() {
    let directory = tempfile::tempdir().unwrap();
    let mut shell = tokio::process::Command::new("sh");
    let command = format!("ulimit -n 256; exec '{}' server --store memory: --listen 127.0.0.1:0", env!("CARGO_BIN_EXE_ojs"));
    let log = std::fs::File::create(directory.path().join("log")).unwrap();
    let mut child =
        shell.args(["-c", &command]).stdout(std::process::Stdio::piped()).stderr(log).kill_on_drop(true).spawn().unwrap();
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(child.stdout.take().unwrap()));
    let first = lines.next_line().await.unwrap().unwrap();
    let url = first.strip_prefix("listening on ").unwrap();
    let (said, command) = warned(url, "server.limits").await.unwrap();
    assert!(said.contains("of 256 files are open") && command.starts_with("ulimit -n"), "{said}");
    let roomy = ServerProcess::memory().await;
    let quiet = report(&roomy.url(), &["--only", "server.limits"]).await;
    let files = &quiet["findings"][0];
    let enough = files["evidence"]["limit"].as_f64().unwrap() >= 1024.0;
    assert_eq!(files["level"] == "ok", enough, "{quiet}");
}

#[tokio::test]
async fn the_doctor_names_workers_of_another_version() {
    let server = ServerProcess::memory().await;
    let beat = |id: &str, version: &str| json!({"worker_id": id, "active_jobs": 0, "metadata": {"sdk_version": version}});
    server.connect().await.post("/workers/heartbeat", &beat("w1", env!("CARGO_PKG_VERSION"))).await.expect(200);
    assert_eq!(warned(&server.url(), "server.version").await, None);
    server.connect().await.post("/workers/heartbeat", &beat("w2", "9.7.0")).await.expect(200);
    let (said, command) = warned(&server.url(), "server.version").await.unwrap();
    assert!(said.contains("worker w2 has version 9.7.0"), "{said}");
    run(&server.url(), &command).await;
}

#[tokio::test]
async fn the_doctor_names_slow_commits() {
    let server = ServerProcess::sqlite().await;
    says(&server, &["jobs", "enqueue", "a.b"]).await;
    let quick = report(&server.url(), &["--only", "store.latency"]).await;
    let p99 = quick["findings"][0]["evidence"]["p99_seconds"].as_f64().unwrap();
    assert_eq!(quick["findings"][0]["level"] == "warning", p99 > 0.05, "{quick}");
    let file = rusqlite::Connection::open(server.directory().join("jobs.db")).unwrap();
    file.busy_timeout(ojs_tests::PATIENCE).unwrap();
    // Another program holds the file for longer than a commit may take: this is no wait, it is what is looked for.
    file.execute_batch("BEGIN IMMEDIATE").unwrap();
    let url = server.url();
    let waiting = tokio::spawn(async move { ojs(&url, &["jobs", "enqueue", "a.b"]).await });
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    file.execute_batch("COMMIT").unwrap();
    assert_eq!(waiting.await.unwrap().status.code(), Some(0));
    let (said, _) = warned(&server.url(), "store.latency").await.unwrap();
    assert!(said.contains("look at the disk"), "{said}");
}
