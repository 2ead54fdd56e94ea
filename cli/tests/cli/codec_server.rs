//! `ojs codec-server` as a process: what dashboards send it, and who may.
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use ojs::encryption::{Codec, Key, Keys};
use ojs_tests::{Answer, Wire};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};

const KEYS: &str = "k-2:0202020202020202020202020202020202020202020202020202020202020202,k-1:0101010101010101010101010101010101010101010101010101010101010101";

async fn token(file: &Path, name: &str, role: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ojs"));
    let output = command.args(["keys", "--keys"]).arg(file).args(["add", name, "--role", role]).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().max_by_key(|word| word.len()).unwrap().to_owned()
}

async fn start(file: &Path) -> (Child, SocketAddr) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ojs"));
    command.args(["codec-server", "--listen", "127.0.0.1:0", "--origin", "https://dashboard.example.com", "--keys"]).arg(file);
    command.env("OJS_ENCRYPTION_KEYS", KEYS).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).await.unwrap();
    let address = line.trim().strip_prefix("listening on http://").expect(&line).parse().unwrap();
    (child, address)
}

async fn call(address: SocketAddr, method: &str, path: &str, token: &str, body: &str) -> Answer {
    let mut wire = Wire::connect(address).await.unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: test\r\nOrigin: https://dashboard.example.com\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    wire.send([head.as_bytes(), body.as_bytes()].concat()).await.unwrap();
    wire.answer().await.unwrap()
}

#[tokio::test]
async fn arguments_are_shown_to_those_who_may_see_them() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("viewers.json");
    let (ada, bob) = (token(&file, "ada", "operator").await, token(&file, "bob", "worker").await);
    let (mut child, address) = start(&file).await;

    // A job as it lies on a server, under the key before the current one.
    let codec = Codec::new(Keys::new("k-1", Key::new([1; 32])).unwrap());
    let job: Value = serde_json::from_str(&codec.encode(r#"{"type":"a","args":["4111"]}"#).unwrap().unwrap()).unwrap();
    let stored =
        json!({"data": job["args"][0]["data"], "metadata": {"encoding": "binary/encrypted", "encryption_key_id": "k-1"}});
    let plain = json!({"data": "WyI0MTExIl0=", "metadata": {"encoding": "json/plain"}});
    let both = json!({"payloads": [stored, plain]}).to_string();
    let answer = call(address, "POST", "/codec/decode", &ada, &both).await;
    assert_eq!((answer.status, answer.json()), (200, json!({"payloads": [plain, plain]})));
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://dashboard.example.com"));

    let sealed = call(address, "POST", "/codec/encode", &ada, &json!({"payloads": [{"data": "WzFd"}]}).to_string()).await.json();
    assert_eq!(sealed["payloads"][0]["metadata"]["ojs_key_id"], "k-2", "the current key");
    let back = call(address, "POST", "/codec/decode", &ada, &sealed.to_string()).await.json();
    assert_eq!(back["payloads"][0]["data"], "WzFd");
    let keys = call(address, "GET", "/codec/keys", &ada, "").await.json();
    assert_eq!(
        keys,
        json!({"keys": [{"id": "k-2", "current": true}, {"id": "k-1", "current": false}], "total": 2, "current_id": "k-2"})
    );

    for (token, status) in [(bob.as_str(), 403), ("nonsense", 401), ("", 401)] {
        let answer = call(address, "POST", "/codec/decode", token, &both).await;
        assert_eq!(answer.status, status);
        assert!(answer.json()["error"].is_string());
    }
    let foreign = both.replace("k-1", "k-9");
    for (body, why) in [("{}", "payloads"), (r#"{"payloads":[]}"#, "1 to 1000"), (foreign.as_str(), "payloads[0]")] {
        let answer = call(address, "POST", "/codec/decode", &ada, body).await;
        assert_eq!(answer.status, 400);
        assert!(answer.json()["error"].as_str().unwrap().contains(why), "{}", answer.json());
    }
    assert_eq!(call(address, "GET", "/codec/decode", &ada, "").await.status, 405);
    assert_eq!(call(address, "OPTIONS", "/codec/decode", "", "").await.status, 200);
    assert_eq!(call(address, "GET", "/health", "", "").await.json(), json!({"status": "ok"}));

    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).await.unwrap();
    assert!(said.contains("caller=\"ada\"") && said.contains("k-1") && said.contains("access refused"), "{said}");
    assert!(!said.contains("4111") && !said.contains("WyI0MTExIl0"), "never what was in it: {said}");
}

/// As a page in a browser sends it, or a program.
async fn ask(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut wire = Wire::connect(address).await.unwrap();
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    wire.send(format!("{method} {path} HTTP/1.1\r\n{headers}Content-Length: 0\r\n\r\n").into_bytes()).await.unwrap();
    wire.answer().await.unwrap()
}

#[tokio::test]
async fn pages_from_elsewhere_are_kept_out() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("viewers.json");
    let ada = token(&file, "ada", "operator").await;
    let (_child, address) = start(&file).await;
    let bearer = format!("Bearer {ada}");
    let (local, rebound) = (("Host", "127.0.0.1:8089"), ("Host", "evil.example"));
    let evil = ("Origin", "https://evil.example");
    for (method, path, headers, status) in [
        ("POST", "/codec/decode", vec![local, evil], 403),
        ("POST", "/codec/decode", vec![local, ("Sec-Fetch-Site", "cross-site")], 403),
        ("GET", "/codec/keys", vec![rebound], 403),
        ("OPTIONS", "/codec/decode", vec![rebound, ("Origin", "http://evil.example")], 403),
        // A program without a token, and the dashboard that was named: asked for a token, as ever.
        ("POST", "/codec/decode", vec![local], 401),
        (
            "POST",
            "/codec/decode",
            vec![local, ("Origin", "https://dashboard.example.com"), ("Sec-Fetch-Site", "cross-site")],
            401,
        ),
        ("GET", "/codec/keys", vec![rebound, evil, ("Authorization", bearer.as_str())], 200),
        ("GET", "/health", vec![rebound], 200),
    ] {
        let answer = ask(address, method, path, &headers).await;
        assert_eq!(answer.status, status, "{method} {path} {headers:?}");
        if status == 403 {
            assert!(answer.json()["error"].is_string());
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
    }
}
