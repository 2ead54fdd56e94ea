//! In front of a server of another kind, of none, and of one that is gone.
use ojs_tests::{ServerProcess, Wire};
use serde_json::json;

use super::other::Other;
use super::process::{Front, fails, refused};

#[tokio::test]
async fn only_what_is_meant_for_the_other_server_reaches_it_and_nothing_of_its_own_comes_back() {
    let (other, address) = Other::start().await;
    let front = Front::start(&format!("http://{address}/below/"), &["--token", "good"]).await;
    let mut wire = front.connect().await;
    let browser = [
        ("Cookie", "other=1; theirs=2"),
        ("Origin", "http://test"),
        ("X-Forwarded-For", "10.0.0.1"),
        ("Connection", "X-One-Hop"),
        ("X-One-Hop", "1"),
        ("Idempotency-Key", "i-1"),
    ];
    let answer = wire.call_with(&browser, "POST", "/jobs?echo=1", r#"{"type":"a.b"}"#).await.unwrap().expect(201);
    let (method, _, headers, body) = other.last("/below/ojs/v1/jobs?echo=1");
    assert_eq!((&*method, &*body), ("POST", &br#"{"type":"a.b"}"#[..]));
    for absent in ["cookie", "origin", "x-forwarded-for", "x-one-hop"] {
        assert!(!headers.contains_key(absent), "{absent}");
    }
    assert_eq!(headers["authorization"], "Bearer good");
    assert_eq!(headers["host"], address.to_string());
    assert_eq!(headers["idempotency-key"], "i-1");
    // Whatever it answers, no browser runs it.
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert!(answer.header("content-security-policy").unwrap().contains("sandbox"));

    let queues = wire.get("/queues").await.expect(200);
    assert_eq!(queues.json()["queues"][0]["name"], "default");
    assert_eq!((queues.header("set-cookie"), queues.header("access-control-allow-origin")), (None, None));
    assert_eq!(queues.header("x-request-id"), Some("r-1"));
}

#[tokio::test]
async fn a_server_without_sessions_has_its_keys_checked_and_says_itself_what_they_may_do() {
    let (_other, address) = Other::start().await;
    let front = Front::start(&format!("http://{address}"), &[]).await;
    let mut wire = front.connect().await;
    let begin = async |wire: &mut Wire, key: &str| {
        let bearer = format!("Bearer {key}");
        wire.call_with(&[("Authorization", &bearer)], "POST", "/session", "").await.unwrap()
    };
    let refusal = begin(&mut wire, "bad").await.expect(401);
    assert!(refusal.json()["error"]["message"].as_str().unwrap().contains("no such key"), "in its own words");
    let answer = begin(&mut wire, "good").await.expect(204);
    let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let said = wire.call_with(&[("Cookie", &cookie)], "GET", "/session", "").await.unwrap().expect(200).json();
    assert_eq!((&said["name"], &said["role"]), (&json!("signed in"), &json!(null)));
    assert!(said["permissions"].as_array().unwrap().contains(&json!("operate")));
    wire.call_with(&[("Cookie", &cookie)], "GET", "/queues", "").await.unwrap().expect(200);
    wire.get("/queues").await.expect(401);
}

#[tokio::test]
async fn what_cannot_be_sent_on_is_refused_in_words() {
    let (_other, address) = Other::start().await;
    let front = Front::start(&format!("http://{address}"), &["--token", "good", "--timeout", "1"]).await;
    let mut wire = front.connect().await;
    let error = async |wire: &mut Wire, path: &str, status: u16| {
        wire.get(path).await.expect(status).json()["error"]["message"].as_str().unwrap().to_owned()
    };
    let to = error(&mut wire, "/elsewhere", 502).await;
    assert!(to.contains("other.example") && !to.contains("secret"), "{to}");
    assert!(error(&mut wire, "/never", 504).await.contains("does not answer in time"));
    wire.get("/../../secret").await.expect(404);
    wire.get("/%2e%2e/%2e%2e/secret").await.expect(404);
    wire.call("OPTIONS", "/queues", "").await.unwrap().expect(405);

    let raw = async |head: &str| {
        let mut wire = front.connect().await;
        wire.send(format!("{head}\r\n\r\n")).await.unwrap();
        wire.answer().await.unwrap()
    };
    let large = raw("POST /ojs/v1/jobs HTTP/1.1\r\nHost: test\r\nContent-Length: 99999999999").await;
    assert_eq!((large.status, &*large.code()), (413, "payload_too_large"));
    for path in ["/ojs/manifest", "/ojs/v1/queues", "/ui/"] {
        let foreign = raw(&format!("GET {path} HTTP/1.1\r\nHost: evil.example")).await;
        assert!(foreign.expect(403).json()["error"]["hint"].as_str().unwrap().contains("--allow-host"), "{path}");
    }
    raw("GET /health HTTP/1.1\r\nHost: evil.example").await.expect(200);
    raw("GET /metrics HTTP/1.1\r\nHost: test").await.expect(404);
}

#[tokio::test]
async fn a_server_that_has_gone_is_said_and_found_again() {
    let mut server = ServerProcess::memory().await;
    let front = Front::start(&server.url(), &[]).await;
    let mut wire = front.connect().await;
    wire.get("/health").await.expect(200);
    server.terminate().await;
    let gone = wire.get("/health").await.expect(502).json();
    assert!(gone["error"]["message"].as_str().unwrap().contains(&server.url()), "{gone}");
    let _again = server.again_there().await;
    wire.get("/health").await.expect(200);
}

#[tokio::test]
async fn an_address_that_leads_nowhere_ends_with_words() {
    let (_other, address) = Other::start().await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    refused(&fails(&nobody, &[]).await, 3, &["--ui-server", "cannot be reached", &nobody, "Is it running"]);
    refused(&fails(&format!("http://{address}/wrong"), &[]).await, 3, &["/wrong/ojs/manifest", "404", "OJS server"]);
    refused(&fails("jobs.example.com", &[]).await, 2, &["--ui-server", "https://"]);
    let all = ["--listen", "0.0.0.0:0"];
    let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_ojs"))
        .args(["server", "--ui-server", &format!("http://{address}")])
        .args(all)
        .output()
        .await
        .unwrap();
    refused(&output, 2, &["other machines", "--insecure"]);
    refused(&fails(&nobody, &["--store", "memory:"]).await, 2, &["--ui-server", "--store"]);
}
