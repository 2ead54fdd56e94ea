//! From a URL and settings to a connection: which store it is, who closes it, what is sent, what cannot be used.
use std::sync::Arc;
use std::time::Duration;

use ojs::testing::TestServer;
use ojs::transport::{ConnectOptions, Embedded, Http, ResendPolicy, Transport, TransportErrorKind};
use ojs::{Client, Error};
use ojs_engine::{Engine, EngineOptions};

#[tokio::test(flavor = "multi_thread")]
async fn one_store_is_one_engine() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("jobs.db").display());
    let detour = format!("sqlite:{}", folder.path().join(".").join("jobs.db").display());
    let (first, second) = tokio::join!(Client::connect(&url), Client::connect(&detour));
    let (first, second) = (first.unwrap(), second.unwrap());
    let job = first.enqueue("a.b", ()).await.unwrap();
    first.close().await;
    assert!(matches!(first.get_job(&job.id).await, Err(Error::Transport(e)) if e.kind() == TransportErrorKind::Closed));
    assert_eq!(second.get_job(&job.id).await.unwrap().id, job.id, "closing one does not close the other");
    second.close().await;
    let third = Client::connect(&url).await.unwrap();
    assert_eq!(third.get_job(&job.id).await.unwrap().id, job.id, "it is on disk");
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_is_fresh_unless_it_has_a_name() {
    let (a, b) = (Client::connect("memory:shared").await.unwrap(), Client::connect("memory:shared").await.unwrap());
    let job = a.enqueue("a.b", ()).await.unwrap();
    assert_eq!(b.get_job(&job.id).await.unwrap().id, job.id);
    let fresh = Client::connect("memory:").await.unwrap();
    assert!(fresh.get_job(&job.id).await.unwrap_err().is_not_found());
    for client in [a, b] {
        client.close().await;
    }
    let again = Client::connect("memory:shared").await.unwrap();
    assert!(again.get_job(&job.id).await.unwrap_err().is_not_found(), "the last to close it ends it");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_of_the_callers_stays_the_callers() {
    let engine = Engine::open(EngineOptions::new("memory:".parse().unwrap())).await.unwrap();
    let client = Client::new(Arc::new(Embedded::new(engine.clone())));
    client.enqueue("a.b", ()).await.unwrap();
    client.close().await;
    let other = Client::new(Arc::new(Embedded::new(engine)));
    assert_eq!(other.queue_stats("default").await.unwrap().available, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn urls_that_cannot_be_used_are_named() {
    for (url, kind) in [
        ("ftp://x", TransportErrorKind::Config),
        ("jobs.db", TransportErrorKind::Config),
        ("sqlite:", TransportErrorKind::Config),
        ("sqlite:/no/such/folder/jobs.db", TransportErrorKind::Open),
        ("http://", TransportErrorKind::Config),
        ("http://x?y=1", TransportErrorKind::Config),
    ] {
        match Client::connect(url).await {
            Err(Error::Transport(error)) => assert_eq!(error.kind(), kind, "{url}: {error}"),
            other => panic!("{url}: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_without_a_listener_is_a_retryable_connect_error() {
    // Bound, and not listened on: no other process is given the port meanwhile.
    let port = tokio::net::TcpSocket::new_v4().unwrap();
    port.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}", port.local_addr().unwrap());
    let client = Client::builder().url(url).resend(ResendPolicy::never()).connect().await.unwrap();
    let error = client.get_job("x").await.unwrap_err();
    assert!(matches!(&error, Error::Transport(e) if e.kind() == TransportErrorKind::Connect), "{error:?}");
    let said = error.to_string();
    assert!(error.is_retryable() && said.contains("cannot connect to"), "{said}");
    assert!(said.contains(": Connection refused") && !said.contains("client error"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_base_path_may_be_written_out() {
    let server = TestServer::start().await.unwrap();
    let url = server.url();
    for suffix in ["", "/", "/ojs/v1", "/ojs/v1/"] {
        let transport = Http::new(&format!("{url}{suffix}"), ConnectOptions::default()).unwrap();
        assert!(transport.resends());
        assert_eq!(Client::new(Arc::new(transport)).health().await.unwrap()["status"], "ok", "{suffix}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn token_and_headers_are_sent() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = vec![0; 4096];
        let length = stream.read(&mut head).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n{\"status\":\"ok\"}").await.unwrap();
        String::from_utf8_lossy(&head[..length]).to_ascii_lowercase()
    });
    let client = Client::builder().url(url).auth_token("s3cret").header("X-OJS-Tenant", "acme").connect().await.unwrap();
    client.health().await.unwrap();
    let head = server.await.unwrap();
    for line in [
        "get /ojs/v1/health http/1.1",
        "authorization: bearer s3cret",
        "x-ojs-tenant: acme",
        "accept: application/openjobspec+json",
    ] {
        assert!(head.contains(line), "{line} missing in {head}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_server_is_a_timeout() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let client =
        Client::builder().url(url).timeout(Duration::from_millis(50)).resend(ResendPolicy::never()).connect().await.unwrap();
    let error = client.health().await.unwrap_err();
    assert!(matches!(&error, Error::Transport(e) if e.kind() == TransportErrorKind::Timeout), "{error:?}");
}
