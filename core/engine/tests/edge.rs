//! The server's edge: pages of browsers, clients that are silent, do not read, or take more than their share.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ojs_engine::access::{Access, KeyFile, Role};
use ojs_engine::{Engine, EngineOptions, Hosts, Limits, Server};
use ojs_model::Timestamp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tower::ServiceExt;

/// More than a loaded machine needs for anything here.
const PATIENCE: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(300);
/// Client connection preface, and empty settings.
const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

struct Running {
    address: SocketAddr,
    engine: Engine,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

async fn start(shape: impl FnOnce(Server) -> Server) -> Running {
    let engine = Engine::open(EngineOptions::new("memory:".parse().unwrap())).await.unwrap();
    let server = shape(Server::bind(engine.clone(), "127.0.0.1:0").await.unwrap());
    let address = server.local_addr();
    let (stop, stopped) = oneshot::channel();
    let task = tokio::spawn(server.run(async {
        let _ = stopped.await;
    }));
    Running { address, engine, stop, task }
}

fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

impl Running {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends a request with these headers, waits for the end of the answer: status, head and body.
    async fn call(&self, head: &str, body: &str) -> (u16, String) {
        let request = format!("{head}Connection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let mut stream = self.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap().unwrap();
        let answer = String::from_utf8(answer).unwrap();
        (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
    }

    async fn get(&self, host: &str, path: &str, more: &str) -> u16 {
        self.call(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}"), "").await.0
    }

    async fn fetch(&self, wait_ms: u64) -> (u16, String) {
        let body = format!(r#"{{"queues":["q"],"wait_ms":{wait_ms}}}"#);
        self.call("POST /ojs/v1/workers/fetch HTTP/1.1\r\nHost: localhost\r\n", &body).await
    }

    async fn end(self) {
        self.stop.send(()).unwrap();
        tokio::time::timeout(PATIENCE, self.task).await.unwrap().unwrap();
    }
}

/// Reads until the server ends the connection.
async fn closed(stream: &mut TcpStream) -> Vec<u8> {
    let mut read = Vec::new();
    // A reset is a way to close.
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut read)).await.expect("the server closes it");
    read
}

fn keys(folder: &Path, role: Role) -> (Arc<Access>, String) {
    let path = folder.join("keys.json");
    let secret = KeyFile::change(&path, true, |file| file.add("shop", vec![role], Timestamp::from_millis(0))).unwrap();
    (Arc::new(Access::open(path).unwrap()), secret)
}

const JOB: &str = r#"{"type":"mail.send","args":[]}"#;

#[tokio::test]
async fn a_page_under_a_name_of_its_own_reads_nothing() {
    let server = start(|server| server).await;
    for path in ["/ojs/v1/admin/jobs", "/ojs/manifest", "/metrics", "/health", "/ready", "/ojs/v1/health", "/nothing"] {
        assert_eq!(server.get("evil.example", path, "").await, 403, "{path}");
        assert_ne!(server.get(&server.address.to_string(), path, "").await, 403, "{path}");
    }
    let (_, answer) = server.call("GET /ready HTTP/1.1\r\nHost: jobs.example.com:8080\r\n", "").await;
    assert!(answer.contains("--allow-host") && answer.contains("permission_denied"), "{answer}");
    // What probes, containers and clients of the local network say.
    for host in ["10.1.2.3:8080", "[::1]:8080", "localhost", "ojs:8080", "ojs.jobs.svc.cluster.local", "jobs.internal"] {
        assert_eq!(server.get(host, "/ready", "").await, 200, "{host}");
    }
    // HTTP/1.0 without a host is no browser.
    assert_eq!(server.call("GET /ready HTTP/1.0\r\n", "").await.0, 200);
    server.end().await;
    let server = start(|server| server.with_hosts(Hosts::new(["jobs.example.com"]))).await;
    assert_eq!(server.get("jobs.example.com", "/ready", "").await, 200);
    assert_eq!(server.get("evil.example", "/ready", "").await, 403);
    server.end().await;
}

#[tokio::test]
async fn a_page_from_elsewhere_enqueues_nothing() {
    let server = start(|server| server).await;
    let host = server.address;
    // `fetch(url, {method: "POST", mode: "no-cors", body: new Blob([job])})`: no Content-Type, so no preflight.
    for origin in [
        "Origin: https://evil.example\r\nSec-Fetch-Site: cross-site\r\n",
        "Origin: https://evil.example\r\n",
        "Origin: null\r\n",
        "Sec-Fetch-Site: same-site\r\n",
    ] {
        let (status, answer) = server.call(&format!("POST /ojs/v1/jobs HTTP/1.1\r\nHost: {host}\r\n{origin}"), JOB).await;
        assert_eq!(status, 403, "{answer}");
    }
    let (_, jobs) = server.call(&format!("GET /ojs/v1/admin/jobs HTTP/1.1\r\nHost: {host}\r\n"), "").await;
    assert!(!jobs.contains("mail.send"), "{jobs}");
    for own in ["", &format!("Origin: http://{host}\r\nSec-Fetch-Site: same-origin\r\n"), &format!("Origin: http://{host}\r\n")] {
        let (status, answer) = server.call(&format!("POST /ojs/v1/jobs HTTP/1.1\r\nHost: {host}\r\n{own}"), JOB).await;
        assert_eq!(status, 201, "{answer}");
    }
    server.end().await;
}

#[tokio::test]
async fn a_request_with_a_key_may_come_from_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let (access, secret) = keys(folder.path(), Role::Admin);
    let server = start(|server| server.with_access(access)).await;
    let key = format!("Authorization: Bearer {secret}\r\n");
    for path in ["/ojs/v1/admin/jobs", "/ojs/manifest", "/ojs/v1/openapi.json"] {
        assert_eq!(server.get("jobs.example.com", path, &key).await, 200, "{path}");
    }
    let from = format!("POST /ojs/v1/jobs HTTP/1.1\r\nHost: jobs.example.com\r\nOrigin: https://dashboard.example.com\r\n{key}");
    assert_eq!(server.call(&from, JOB).await.0, 201);
    // Without one: what needs a key says so, the health may be asked by monitors under any name, the rest stays closed to pages.
    let wrong = "Authorization: Bearer ojs_wrong\r\n";
    for (path, status) in
        [("/ojs/v1/admin/jobs", 401), ("/health", 200), ("/ready", 200), ("/ojs/v1/health", 200), ("/ojs/manifest", 403)]
    {
        assert_eq!(server.get("jobs.example.com", path, "").await, status, "{path}");
        assert_eq!(server.get("jobs.example.com", path, wrong).await, status, "{path}");
    }
    server.end().await;
}

#[tokio::test]
async fn an_engine_inside_a_program_has_no_names() {
    let engine = Engine::open(EngineOptions::new("memory:".parse().unwrap())).await.unwrap();
    let request = http::Request::get("/ready").header("host", "evil.example").body(axum::body::Body::empty()).unwrap();
    assert_eq!(engine.router().oneshot(request).await.unwrap().status(), 200);
    engine.close().await;
}

#[tokio::test]
async fn silent_connections_of_every_protocol_end_and_others_get_their_places() {
    const MANY: usize = 100;
    let tight = limits(|limits| {
        (limits.connections, limits.idle_timeout, limits.header_timeout, limits.write_timeout) = (MANY, SHORT, SHORT, SHORT);
    });
    let server = start(|server| server.with_limits(tight)).await;
    let said: [&[u8]; 5] = [
        b"",
        HTTP2,
        b"PRI * HTTP/2.0\r\n",
        b"GET /ready HTTP/1.1\r\nHost: localh",
        b"GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ];
    let mut silent = Vec::new();
    for number in 0..MANY {
        let mut stream = server.connect().await;
        stream.write_all(said[number % said.len()]).await.unwrap();
        silent.push(stream);
    }
    // Waits until one of them is gone: the server takes no more than so many.
    assert_eq!(server.get("localhost", "/ready", "").await, 200);
    for mut stream in silent {
        closed(&mut stream).await;
    }
    server.end().await;
}

#[tokio::test]
async fn a_request_that_waits_is_no_silence() {
    let server = start(|server| server.with_limits(limits(|limits| limits.idle_timeout = SHORT))).await;
    assert_eq!(server.fetch(3000).await.0, 200, "ten times the time that silence may last");
    server.end().await;
}

#[tokio::test]
async fn an_answer_that_is_not_read_is_cut() {
    let tight = limits(|limits| (limits.connections, limits.write_timeout) = (1, SHORT));
    let server = start(|server| server.with_limits(tight)).await;
    let mut deaf = server.connect().await;
    let request = b"GET /ojs/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(2000);
    // The server stops reading when it cannot write.
    let sending = tokio::time::timeout(PATIENCE, deaf.write_all(&request)).await.expect("taken, or cut");
    assert_eq!(server.get("localhost", "/ready", "").await, 200, "the only place is free again: {sending:?}");
    server.end().await;
}

/// An HTTP/2 request by hand: `GET path` on a stream.
fn http2_get(stream: u32, path: &str) -> Vec<u8> {
    // :method GET, :scheme http, :authority, :path; the latter two as literals under their static names.
    let mut block = vec![0x82, 0x86, 0x01, 9];
    block.extend(b"localhost");
    block.extend([0x04, u8::try_from(path.len()).unwrap()]);
    block.extend(path.as_bytes());
    let mut frame = vec![0, 0, u8::try_from(block.len()).unwrap(), 0x1, 0x5];
    frame.extend(stream.to_be_bytes());
    frame.extend(block);
    frame
}

#[tokio::test]
async fn an_http2_answer_that_is_not_read_is_cut() {
    let tight = limits(|limits| (limits.connections, limits.write_timeout) = (1, SHORT));
    let server = start(|server| server.with_limits(tight)).await;
    let mut deaf = server.connect().await;
    // Settings that leave no room for bodies.
    let mut said = HTTP2[..24].to_vec();
    said.extend(b"\0\0\x06\x04\0\0\0\0\0\0\x04\0\0\0\0");
    said.extend(http2_get(1, "/ojs/v1/openapi.json"));
    deaf.write_all(&said).await.unwrap();
    assert_eq!(server.get("localhost", "/ready", "").await, 200, "the only place is free again");
    let read = closed(&mut deaf).await;
    assert!(!read.is_empty(), "settings and the head of the answer");
    server.end().await;
}

#[tokio::test]
async fn one_client_has_its_share_of_connections() {
    let tight = limits(|limits| limits.connections_per_client = 3);
    let server = start(|server| server.with_limits(tight)).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut stream = server.connect().await;
        stream.write_all(b"GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        assert!(stream.read(&mut [0; 64]).await.unwrap() > 0);
        held.push(stream);
    }
    let mut more = server.connect().await;
    assert!(closed(&mut more).await.is_empty());
    server.end().await;
}

#[tokio::test]
async fn one_client_has_its_share_of_waiting() {
    let tight = limits(|limits| (limits.waiting, limits.waiting_per_client) = (10, 3));
    let server = Arc::new(start(|server| server.with_limits(tight)).await);
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let server = Arc::clone(&server);
            tokio::spawn(async move {
                loop {
                    // The look below may have taken the place.
                    let (status, _) = server.fetch(60_000).await;
                    if status != 429 {
                        return status;
                    }
                }
            })
        })
        .collect();
    let refused = async {
        loop {
            let (status, answer) = server.fetch(1).await;
            if status == 429 {
                return answer;
            }
        }
    };
    let answer = tokio::time::timeout(PATIENCE, refused).await.unwrap();
    assert!(answer.contains("retry-after: 1") && answer.contains("rate_limited"), "{answer}");
    for path in ["/ojs/v1/events?after=latest&wait_ms=1000", "/ojs/v1/jobs/019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f/result?wait=true"]
    {
        assert_eq!(server.get("localhost", path, "").await, 429, "{path}");
    }
    // Work goes on: outcomes are written, jobs come in and are fetched without waiting.
    assert_eq!(server.fetch(0).await.0, 200);
    let outcome = r#"{"queues":["q"],"count":1,"wait_ms":1000,"outcomes":[{"job_id":"019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"}]}"#;
    let (status, answer) = server.call("POST /ojs/v1/workers/exchange HTTP/1.1\r\nHost: localhost\r\n", outcome).await;
    assert_eq!(status, 200, "{answer}");
    // Each job ends one of the waits, and frees a place.
    let job = r#"{"type":"a","args":[],"options":{"queue":"q"}}"#;
    for _ in 0..3 {
        assert_eq!(server.call("POST /ojs/v1/jobs HTTP/1.1\r\nHost: localhost\r\n", job).await.0, 201);
    }
    for wait in waiting {
        assert_eq!(tokio::time::timeout(PATIENCE, wait).await.unwrap().unwrap(), 200);
    }
    assert_eq!(server.fetch(1).await.0, 200);
    server.engine.close().await;
}

#[tokio::test]
async fn one_key_has_its_share_of_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let (access, secret) = keys(folder.path(), Role::Admin);
    let tight = limits(|limits| limits.waiting_per_client = 1);
    let server = Arc::new(start(|server| server.with_access(access).with_limits(tight)).await);
    let poll = |server: Arc<Running>, wait_ms: u64| {
        let head = format!("POST /ojs/v1/workers/fetch HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {secret}\r\n");
        async move { server.call(&head, &format!(r#"{{"queues":["q"],"wait_ms":{wait_ms}}}"#)).await.0 }
    };
    // Whichever comes second is refused.
    let waiting = poll(Arc::clone(&server), 60_000);
    let refused = async { while poll(Arc::clone(&server), 1000).await != 429 {} };
    let refused = async {
        tokio::select! { status = waiting => assert_eq!(status, 429), () = refused => {} }
    };
    tokio::time::timeout(PATIENCE, refused).await.unwrap();
    server.engine.close().await;
}
