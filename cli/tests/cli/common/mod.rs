//! Runs the command against a real server.
use std::process::Output;

use ojs_tests::ServerProcess;
use serde_json::{Value, json};
use tokio::process::Command;

/// Runs a command to its end.
pub async fn ojs(url: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ojs"))
        .args(arguments)
        .env("OJS_URL", url)
        .env_remove("OJS_AUTH_TOKEN")
        .output()
        .await
        .unwrap()
}

/// Runs a command that must succeed; returns what it printed.
pub async fn says(server: &ServerProcess, arguments: &[&str]) -> String {
    let output = ojs(&server.url(), arguments).await;
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What a command that must succeed printed with `--json`.
pub async fn json_of(server: &ServerProcess, arguments: &[&str]) -> Value {
    serde_json::from_str(&says(server, &[arguments, &["--json"]].concat()).await).unwrap()
}

/// Runs a command that must fail; returns its words.
pub async fn fails(url: &str, arguments: &[&str], status: i32) -> String {
    let output = ojs(url, arguments).await;
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty());
    said
}

/// A dead letter, made by a worker that refuses the job for good.
pub async fn dead_letter(server: &ServerProcess, kind: &str) -> String {
    let options = r#"{"retry":{"on_exhaustion":"dead_letter"}}"#;
    let id = json_of(server, &["jobs", "enqueue", kind, "--max-attempts", "1", "--options", options]).await["job"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut wire = server.connect().await;
    wire.post("/workers/fetch", &json!({"queues": ["default"]})).await.expect(200);
    let nack = json!({"job_id": id, "error": {"code": "handler_error", "message": "mailbox is full"}});
    assert_eq!(wire.post("/workers/nack", &nack).await.expect(200).json()["state"], "discarded");
    id
}
