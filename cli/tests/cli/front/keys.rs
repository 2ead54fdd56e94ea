//! In front of an `ojs` server that asks for keys.
use ojs_tests::{ServerProcess, Wire};
use serde_json::{Value, json};

use super::process::{Front, fails, refused};

/// Name of the file of keys.
const FILE: &str = "keys.json";

struct Keys {
    folder: tempfile::TempDir,
    viewer: String,
    admin: String,
}

async fn keys() -> Keys {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let add = async |role: &str| {
        let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_ojs"))
            .args(["keys", "add", role, "--role", role, "--keys", path.to_str().unwrap()])
            .output()
            .await
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let (viewer, admin) = (add("viewer").await, add("admin").await);
    Keys { folder, viewer, admin }
}

impl Keys {
    async fn server(&self) -> ServerProcess {
        ServerProcess::start("memory", &["--keys", self.folder.path().join(FILE).to_str().unwrap()]).await
    }
}

const OWN_PAGE: (&str, &str) = ("Sec-Fetch-Site", "same-origin");

/// Signs in; the cookie that the browser would send.
async fn sign_in(wire: &mut Wire, key: &str) -> String {
    let bearer = format!("Bearer {key}");
    let answer = wire.call_with(&[("Authorization", &bearer), OWN_PAGE], "POST", "/session", "").await.unwrap().expect(204);
    let cookie = answer.header("set-cookie").unwrap().to_owned();
    assert!(cookie.ends_with("; Max-Age=43200; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(key), "the browser never has the key");
    cookie.split(';').next().unwrap().to_owned()
}

async fn session(wire: &mut Wire, cookie: &str) -> Value {
    wire.call_with(&[("Cookie", cookie)], "GET", "/session", "").await.unwrap().expect(200).json()
}

#[tokio::test]
async fn people_sign_in_with_keys_of_the_other_server_and_the_browser_has_a_cookie() {
    let keys = keys().await;
    let server = keys.server().await;
    let front = Front::start(&server.url(), &[]).await;
    let mut wire = front.connect().await;
    wire.get("/admin/stats").await.expect(401);
    let wrong = wire.call_with(&[("Authorization", "Bearer wrong"), OWN_PAGE], "POST", "/session", "").await.unwrap();
    assert!(wrong.json()["error"]["message"].as_str().unwrap().contains("does not accept this key"));
    assert_eq!((wrong.status, wrong.header("set-cookie"), wrong.header("www-authenticate")), (401, None, None));
    wire.post("/session", &json!({})).await.expect(401);

    let cookie = sign_in(&mut wire, &keys.viewer).await;
    let said = session(&mut wire, &cookie).await;
    assert_eq!((&said["name"], &said["role"]), (&json!("viewer"), &json!("viewer")));
    assert!(said["expires_at"].is_string(), "{said}");
    wire.call_with(&[("Cookie", &cookie)], "GET", "/admin/stats", "").await.unwrap().expect(200);
    let pause = wire.call_with(&[("Cookie", &cookie), OWN_PAGE], "POST", "/admin/queues/a/pause", "{}").await.unwrap();
    assert_eq!(pause.expect(403).code(), "permission_denied", "the other server knows what the key may do");

    let cookie = sign_in(&mut wire, &keys.admin).await;
    let enqueue = (r#"{"type":"a.b","args":[1]}"#, "/jobs");
    // What the cookie allows, only the page may send.
    wire.call_with(&[("Cookie", &cookie)], "POST", enqueue.1, enqueue.0).await.unwrap().expect(403);
    let foreign = [("Cookie", &*cookie), ("Origin", "http://evil.example")];
    wire.call_with(&foreign, "POST", enqueue.1, enqueue.0).await.unwrap().expect(403);
    wire.call_with(&[("Cookie", &cookie), OWN_PAGE], "POST", enqueue.1, enqueue.0).await.unwrap().expect(201);

    let ended = wire.call_with(&[("Cookie", &cookie), OWN_PAGE], "DELETE", "/session", "").await.unwrap().expect(204);
    assert!(ended.header("set-cookie").unwrap().starts_with("ojs_ui_session=; Max-Age=0"));
    wire.call_with(&[("Cookie", &cookie)], "GET", "/admin/stats", "").await.unwrap().expect(401);
    // A program sends its key itself.
    let bearer = format!("Bearer {}", keys.admin);
    wire.call_with(&[("Authorization", &bearer)], "GET", "/admin/stats", "").await.unwrap().expect(200);
    assert!(front.stopped().await.success());
}

#[tokio::test]
async fn the_key_of_the_operator_serves_requests_without_one_and_is_not_shown() {
    let keys = keys().await;
    let server = keys.server().await;
    let front = Front::start(&server.url(), &["--token", &keys.viewer]).await;
    let mut wire = front.connect().await;
    wire.get("/admin/stats").await.expect(200);
    let said = wire.get("/session").await.expect(200).json();
    assert_eq!((&said["name"], &said["role"]), (&Value::Null, &json!("viewer")), "there is no session to end");
    wire.post("/jobs", &json!({"type": "a.b", "args": []})).await.expect(403);
    // A page from elsewhere must not use that key.
    let foreign = [("Sec-Fetch-Site", "cross-site")];
    let refusal = wire.call_with(&foreign, "POST", "/admin/queues/a/pause", "{}").await.unwrap().expect(403);
    assert_eq!(refusal.json()["error"]["details"]["header"], "Sec-Fetch-Site");
    let cookie = sign_in(&mut wire, &keys.admin).await;
    let sent = [("Cookie", &*cookie), OWN_PAGE];
    wire.call_with(&sent, "POST", "/jobs", r#"{"type":"a.b","args":[]}"#).await.unwrap().expect(201);

    refused(&fails(&server.url(), &["--token", "wrong"]).await, 1, &["does not accept this key", "--token"]);
}

#[tokio::test]
async fn events_come_as_they_happen_and_a_stream_ends_with_its_session_or_with_the_process() {
    let keys = keys().await;
    let server = keys.server().await;
    let front = Front::start(&server.url(), &[]).await;
    let (mut wire, mut first, mut second) = (front.connect().await, front.connect().await, front.connect().await);
    let (ending, lasting) = (sign_in(&mut wire, &keys.admin).await, sign_in(&mut wire, &keys.admin).await);
    for (stream, cookie) in [(&mut first, &ending), (&mut second, &lasting)] {
        let request = format!("GET /ojs/v1/events/stream HTTP/1.1\r\nHost: test\r\nCookie: {cookie}\r\n\r\n");
        stream.send(request).await.unwrap();
        assert!(stream.next_line().await.unwrap().contains("200"));
    }
    let sent = [("Cookie", &*lasting), OWN_PAGE];
    wire.call_with(&sent, "POST", "/jobs", r#"{"type":"seen.live","args":[]}"#).await.unwrap().expect(201);
    for stream in [&mut first, &mut second] {
        while !stream.next_line().await.unwrap().contains("seen.live") {}
    }
    wire.call_with(&[("Cookie", &ending), OWN_PAGE], "DELETE", "/session", "").await.unwrap().expect(204);
    // The last chunk of the answer.
    while first.next_line().await.unwrap() != "0" {}
    let stopped = tokio::spawn(front.stopped());
    while second.next_line().await.unwrap() != "0" {}
    assert!(stopped.await.unwrap().success());
}
