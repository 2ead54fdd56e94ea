//! `ojs push` against a real server and a real endpoint, and a server that is killed in the middle of a call.
mod certificates;
#[allow(dead_code, reason = "each file of tests uses a part of it")]
#[path = "../../../../core/engine/tests/store/endpoint.rs"]
mod endpoint;
mod faults;
mod signatures;

use crate::common::{fails, json_of, says};
use endpoint::{Endpoint, Reply};
use ojs_tests::{ServerProcess, until};
use serde_json::{Value, json};

/// Endpoints of these tests are on this machine.
const ALLOW: [&str; 2] = ["--webhook-allow", "127.0.0.0/8"];

async fn state(server: &ServerProcess, job: &str) -> Value {
    server.connect().await.get(&format!("/jobs/{job}")).await.expect(200).job()["state"].clone()
}

async fn enqueued(server: &ServerProcess, job_type: &str) -> String {
    json_of(server, &["jobs", "enqueue", job_type]).await["job"]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_endpoint_is_added_tried_listed_paused_and_removed() {
    let server = ServerProcess::start("memory", &ALLOW).await;
    let completed = Reply::json(&json!({"status": "completed"}));
    let mut endpoint = Endpoint::new(vec![completed.clone(), Reply::status(404), completed]).await;
    let url = endpoint.url();
    let add = ["push", "add", &url, "email.*", "--queue", "default", "--max-concurrency", "1", "--secret", "whsec_test_secret"];
    let added = says(&server, &add).await;
    assert!(added.contains("whsec_test_secret") && added.contains("email.*"), "{added}");
    let id = added.lines().next().unwrap().split_whitespace().last().unwrap().to_owned();
    assert!(!says(&server, &["push", "show", &id]).await.contains("whsec_"), "the secret is shown once");
    let tried = says(&server, &["push", "test", &id]).await;
    assert!(tried.contains("The endpoint took the delivery and completed the job."), "{tried}");
    assert_eq!(endpoint.next().await.json()["job"]["type"], "push.test");
    let refused = enqueued(&server, "email.send").await;
    endpoint.next().await;
    until("the job is refused", || async { (state(&server, &refused).await == "discarded").then_some(()) }).await;
    let listed = says(&server, &["push", "list"]).await;
    assert!(listed.contains("disabled") && listed.contains("the endpoint answered 404"), "{listed}");
    says(&server, &["push", "resume", &id]).await;
    let job = enqueued(&server, "email.send").await;
    endpoint.next().await;
    until("the job is completed", || async { (state(&server, &job).await == "completed").then_some(()) }).await;
    assert!(says(&server, &["push", "pause", &id]).await.contains("paused"));
    let rotated = json_of(&server, &["push", "rotate", &id]).await;
    assert_ne!(rotated["config"]["signing_secret"], "whsec_test_secret");
    assert!(says(&server, &["push", "remove", &id]).await.contains("deleted"));
    assert!(fails(&server.url(), &["push", "show", &id], 1).await.contains("not_found"));
}

#[tokio::test]
async fn a_private_address_is_refused_unless_the_operator_allows_it() {
    let server = ServerProcess::memory().await;
    let refusal = fails(&server.url(), &["push", "add", "https://127.0.0.1/", "t"], 1).await;
    assert!(refusal.contains("is not a public address"), "{refusal}");
}

#[tokio::test]
async fn the_answer_to_a_call_counts_after_the_server_was_killed_in_the_middle_of_it() {
    let mut server = ServerProcess::start("sqlite", &ALLOW).await;
    let mut endpoint = Endpoint::new(vec![Reply::Hang]).await;
    says(&server, &["push", "add", &endpoint.url(), "t"]).await;
    let job = enqueued(&server, "t").await;
    let request = endpoint.next().await;
    server.kill().await;
    let server = server.again().await;
    assert_eq!(state(&server, &job).await, "active", "its lease lasts");
    let ack = json!({"job_id": job, "delivery_id": request.header("x-ojs-delivery-id"), "result": 7});
    let other = json!({"job_id": job, "delivery_id": "del_00000000-0000-7000-8000-000000000001"});
    assert_eq!(server.connect().await.post("/workers/ack", &other).await.status, 409);
    server.connect().await.post("/workers/ack", &ack).await.expect(200);
    assert_eq!(state(&server, &job).await, "completed");
    assert!(!endpoint.has_more(), "it was sent once");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn deliveries_that_wait_take_no_threads() {
    const AT_A_TIME: usize = 200;
    let server = ServerProcess::start("memory", &ALLOW).await;
    let mut endpoint = Endpoint::new(vec![Reply::Hang]).await;
    let most = AT_A_TIME.to_string();
    says(&server, &["push", "add", &endpoint.url(), "t", "--max-concurrency", &most]).await;
    let mut wire = server.connect().await;
    for _ in 0..AT_A_TIME {
        wire.post("/jobs", &json!({"type": "t", "args": []})).await.expect(201);
    }
    for _ in 0..AT_A_TIME {
        endpoint.next().await;
    }
    let threads = server.threads();
    assert!(threads < AT_A_TIME / 4, "{threads} threads beside {AT_A_TIME} calls under way");
}
