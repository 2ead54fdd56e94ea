//! The command itself: its list, its choice of checks, its exit status, its bundle.
use std::io::Read;

use ojs_tests::ServerProcess;
use serde_json::{Value, json};

use super::report;
use crate::common::{fails, json_of, ojs, says};

#[tokio::test]
async fn the_doctor_lists_its_checks_and_runs_those_that_are_named() {
    let server = ServerProcess::memory().await;
    let list = json_of(&server, &["doctor", "--list"]).await;
    assert_eq!(list["items"].as_array().unwrap().len(), 29, "27, the health of the server, the audit");
    assert!(says(&server, &["doctor", "--list", "--only", "store"]).await.contains("store.drift"));
    let names = |report: &Value| {
        let findings = report["findings"].as_array().unwrap();
        findings.iter().map(|finding| finding["check"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let only = report(&server.url(), &["--only", "queue", "--skip", "queue.forgotten"]).await;
    assert_eq!(names(&only), ["queue.starving"]);
    assert!(!names(&report(&server.url(), &["--skip", "cron.missed"]).await).contains(&"cron.missed".to_owned()));
    let said = fails(&server.url(), &["doctor", "--only", "quue.starving"], 2).await;
    assert!(said.contains("did you mean 'queue.starving'?"), "{said}");
}

#[tokio::test]
async fn notes_end_with_1_only_when_the_doctor_is_strict() {
    let server = ServerProcess::memory().await;
    let limited = r#"{"rate_limit":{"key":"api","concurrency":5}}"#;
    says(&server, &["jobs", "enqueue", "a.b", "--options", limited]).await;
    says(&server, &["rate-limits", "override", "api", "--concurrency", "7", "--for", "PT30M"]).await;
    let look = ["doctor", "--only", "limits.blocked"];
    assert!(says(&server, &look).await.starts_with("note     limits.blocked: the override of 'api' ends in"));
    assert_eq!(ojs(&server.url(), &[&look[..], &["--strict"]].concat()).await.status.code(), Some(1));
}

#[tokio::test]
async fn a_bundle_has_what_a_report_needs_and_no_secret() {
    const CANARY: &str = "canary-7f3a91";
    let server = ServerProcess::memory().await;
    let arguments = json!([format!("{CANARY}-argument")]).to_string();
    let id = json_of(&server, &["jobs", "enqueue", "a.b", &arguments, "--max-attempts", "1"]).await["job"]["id"].clone();
    let mut wire = server.connect().await;
    wire.post("/workers/fetch", &json!({"queues": ["default"]})).await.expect(200);
    let error = json!({"code": "handler_error", "type": "E", "message": format!("{CANARY}-error"), "retryable": false});
    wire.post("/workers/nack", &json!({"job_id": id, "error": error})).await.expect(200);
    let path = server.directory().join("report.tar.gz");
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_ojs"));
    command.args(["doctor", "--url", &server.url(), "--token", &format!("{CANARY}-key"), "--bundle"]).arg(&path);
    command.env("OJS_STORE", format!("postgres://u:{CANARY}-password@127.0.0.1:1/x?sslpassword={CANARY}-parameter"));
    command.env("OJS_ANYTHING", format!("{CANARY}-variable"));
    let output = command.output().await.unwrap();
    assert!(path.exists(), "{output:?}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(std::fs::File::open(&path).unwrap()));
    let mut parts = std::collections::BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        parts.insert(entry.path().unwrap().display().to_string(), text);
    }
    for name in ["findings", "versions", "settings", "config", "health", "stats"] {
        let text = &parts[&format!("ojs-doctor/{name}.json")];
        assert!(serde_json::from_str::<Value>(text).is_ok(), "{name}: {text}");
    }
    assert!(parts["ojs-doctor/metrics.txt"].contains("ojs_job_failed_total"));
    assert!(parts["ojs-doctor/settings.json"].contains("OJS_ANYTHING"), "names of settings are no secrets");
    let leaked: Vec<_> = parts.iter().filter(|(_, text)| text.contains(CANARY)).collect();
    assert!(leaked.is_empty(), "{leaked:?}");
}
