//! What the doctor finds, on a real server and on a store alone.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]
mod common;

use common::{dead_letter, json_of, ojs, says};
use ojs_tests::ServerProcess;
use serde_json::{Value, json};

/// Runs the doctor; returns what a check said, or nothing when all is well there.
async fn warned(server: &ServerProcess, check: &str) -> Option<String> {
    let output = ojs(&server.url(), &["doctor", "--json"]).await;
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(i32::from(report["problems"] != 0)), "{report}");
    let findings = report["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["check"] == check).unwrap_or_else(|| panic!("no {check}: {report}"));
    (found["level"] != "ok").then(|| found["message"].as_str().unwrap().to_owned())
}

/// A worker that says what it asks for.
async fn worker(server: &ServerProcess, id: &str, queues: &[&str]) {
    let beat = json!({"worker_id": id, "active_jobs": 0, "queues": queues});
    server.connect().await.post("/workers/heartbeat", &beat).await.expect(200);
}

/// A job that fails for good, in the default way: it is not kept as a dead letter.
async fn discarded(server: &ServerProcess, kind: &str, error: &Value) -> String {
    let job = json_of(server, &["jobs", "enqueue", kind, "--max-attempts", "1"]).await;
    let id = job["job"]["id"].as_str().unwrap().to_owned();
    let mut wire = server.connect().await;
    wire.post("/workers/fetch", &json!({"queues": ["default"]})).await.expect(200);
    let nack = wire.post("/workers/nack", &json!({"job_id": id, "error": error})).await.expect(200).json();
    assert_eq!(nack["state"], "discarded");
    id
}

#[tokio::test]
async fn the_doctor_says_at_once_that_nobody_asks_for_a_queue() {
    let server = ServerProcess::memory().await;
    assert_eq!(warned(&server, "waiting").await, None);
    says(&server, &["jobs", "enqueue", "a.b", "--queue", "reports"]).await;
    assert!(warned(&server, "waiting").await.unwrap().contains("1 job of 'reports'"), "no worker at all");
    worker(&server, "w1", &["mail", "default"]).await;
    let said = warned(&server, "waiting").await.unwrap();
    assert!(said.contains("no live worker asks for this queue") && said.contains("default, mail"), "{said}");
    worker(&server, "w2", &["reports"]).await;
    assert_eq!(warned(&server, "waiting").await, None);
}

#[tokio::test]
async fn the_doctor_counts_what_was_discarded_by_type_and_error() {
    let server = ServerProcess::memory().await;
    assert_eq!(warned(&server, "discarded").await, None);
    let refused = json!({"code": "handler_error", "type": "ConnectionError", "message": "the bank does not answer"});
    for _ in 0..2 {
        discarded(&server, "card.charge", &refused).await;
    }
    discarded(&server, "mail.send", &json!({"code": "handler_error", "type": "ValueError", "message": "no address"})).await;
    let said = warned(&server, "discarded").await.unwrap();
    assert!(said.contains("3 jobs in the last hour: card.charge (2), mail.send (1)"), "{said}");
    assert!(said.contains("most often ConnectionError: the bank does not answer (2)"), "{said}");
    assert_eq!(warned(&server, "dead letters").await, None, "none of them was kept");
}

#[tokio::test]
async fn the_doctor_names_types_that_no_worker_knew() {
    let server = ServerProcess::memory().await;
    assert_eq!(warned(&server, "handlers").await, None);
    let unknown = json!({"code": "no_handler", "type": "NoHandler", "message": "No handler is registered.", "retryable": false});
    let id = discarded(&server, "email.sned", &unknown).await;
    let said = warned(&server, "handlers").await.unwrap();
    assert!(said.contains("1 job ended because no worker knew the type: email.sned (1)"), "{said}");
    let letter = ojs(&server.url(), &["dead-letter", "get", &id]).await.status.code() == Some(0);
    assert_eq!(said.contains("ojs dead-letter retry --all --type email.sned"), letter, "{said}");
    dead_letter(&server, "a.b").await;
    assert!(warned(&server, "handlers").await.unwrap().contains("1 job ended"), "only jobs without a handler");
}

#[tokio::test]
async fn the_doctor_looks_at_a_store_without_a_server() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("jobs.db");
    let store = format!("sqlite:{}", path.display());
    let doctor = |arguments: Vec<String>| async move {
        // No server is named; whatever listens on the default port of the machine that runs this test is not asked either.
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_ojs"));
        let command = command.args(&arguments).env_remove("OJS_URL").env_remove("OJS_BACKEND_URL").env_remove("OJS_AUTH_TOKEN");
        command.output().await.unwrap()
    };
    let look = vec!["doctor".to_owned(), "--store".to_owned(), store.clone()];
    let output = doctor(look.clone()).await;
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("not there yet"), "{said}");
    assert!(!path.exists(), "a look makes no store");
    assert_eq!(ojs(&store, &["jobs", "enqueue", "a.b", "--queue", "reports"]).await.status.code(), Some(0));
    let output = doctor(look.clone()).await;
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("ok       schema") && said.contains("none answers at"), "{said}");
    assert!(said.contains("warning  waiting: 1 job of 'reports'"), "{said}");
    assert!(!said.contains("audit"), "only when it is asked for: {said}");
    let audit = [look, vec!["--audit".to_owned()]].concat();
    let said = String::from_utf8(doctor(audit.clone()).await.stdout).unwrap();
    assert!(said.contains("ok       audit: 1 jobs looked at"), "{said}");
    rusqlite::Connection::open(&path).unwrap().execute("DELETE FROM bodies", []).unwrap();
    let output = doctor(audit).await;
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("warning  audit: job "), "{said}");
    assert!(said.contains("the body of a job: expected a row, found none (bodies)"), "{said}");
}

#[tokio::test]
async fn the_doctor_audits_the_store_of_a_server() {
    let server = ServerProcess::memory().await;
    says(&server, &["jobs", "enqueue", "a.b", "--queue", "reports"]).await;
    let output = ojs(&server.url(), &["doctor", "--audit", "--json"]).await;
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = report["findings"].as_array().unwrap().iter().find(|finding| finding["check"] == "audit").unwrap();
    assert_eq!(found["message"], "1 jobs looked at: nothing contradicts anything", "{report}");
}
