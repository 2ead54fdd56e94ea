//! Endpoints of every bad kind beside a real server: the job waits for its next attempt, `ojs push list` says why, and
//! the memory of the server stays within bounds.
use ojs_tests::{ServerProcess, until};
use serde_json::{Value, json};

use super::endpoint::{Endpoint, Reply};
use super::{ALLOW, enqueued, state};
use crate::common::says;

/// The line of an endpoint in `ojs push list`, as soon as it says why the endpoint fails.
pub async fn reason_in_list(server: &ServerProcess, url: &str) -> String {
    let failing = |listed: &Value| {
        let endpoints = listed["endpoints"].as_array().unwrap();
        endpoints.iter().any(|one| one["endpoint"] == url && one["last_failure"].is_object())
    };
    let endpoints = || async { server.connect().await.get("/push/endpoints").await.expect(200).json() };
    until("the failure is noted", || async { failing(&endpoints().await).then_some(()) }).await;
    let listed = says(server, &["push", "list"]).await;
    listed.lines().find(|line| line.contains(url)).unwrap().to_owned()
}

#[tokio::test]
async fn the_list_says_why_an_endpoint_fails() {
    let server = ServerProcess::start("sqlite", &ALLOW).await;
    let target = Endpoint::answering(200).await;
    let cases = [
        (Reply::Hang, "200", "no answer within 200 ms"),
        (Reply::Drip, "200", "the answer did not end within the time"),
        (Reply::Cut, "60000", "the answer cannot be read: its end did not arrive"),
        (Reply::Endless, "60000", "the answer cannot be read: it has more than 1114112 bytes"),
        (Reply::Close, "60000", "the connection ended"),
        (Reply::redirect(307, &target.url()), "60000", "the endpoint answered 307: redirects are not followed"),
        (Reply::status(200), "60000", "the answer cannot be read: expected value"),
        (Reply::status(503), "60000", "the endpoint answered 503"),
    ];
    for (place, (reply, timeout, reason)) in cases.into_iter().enumerate() {
        let mut endpoint = Endpoint::new(vec![reply.clone()]).await;
        let job_type = format!("t{place}");
        says(&server, &["push", "add", &endpoint.url(), &job_type, "--timeout-ms", timeout]).await;
        let job = enqueued(&server, &job_type).await;
        endpoint.next().await;
        let listed = reason_in_list(&server, &endpoint.url()).await;
        assert!(listed.contains("failing") && listed.contains(reason), "{reply:?}: {listed}");
        until("the job waits", || async { (state(&server, &job).await == "retryable").then_some(()) }).await;
        assert!(!endpoint.has_more(), "{reply:?}: it was sent once");
    }
    let nothing = Endpoint::answering(200).await.url();
    says(&server, &["push", "add", &nothing, "nothing"]).await;
    enqueued(&server, "nothing").await;
    let listed = reason_in_list(&server, &nothing).await;
    assert!(listed.contains("cannot connect: Connection refused"), "{listed}");
    assert_eq!(target.connections(), 0, "no redirect is followed");
}

/// Bytes of memory of a server.
async fn resident(server: &ServerProcess) -> f64 {
    let metrics = server.metrics().await;
    let line = metrics.lines().find_map(|line| line.strip_prefix("process_resident_memory_bytes ")).unwrap();
    line.parse().unwrap()
}

#[tokio::test]
async fn answers_without_end_take_no_more_memory_than_their_bound() {
    let server = ServerProcess::start("sqlite", &ALLOW).await;
    // Each announces a terabyte.
    let mut endpoint = Endpoint::new(vec![Reply::Endless]).await;
    says(&server, &["push", "add", &endpoint.url(), "t", "--max-concurrency", "32"]).await;
    let before = resident(&server).await;
    let once = json!({"type": "t", "args": [], "options": {"retry": {"max_attempts": 1}}});
    server.connect().await.post("/jobs/batch", &json!({"jobs": vec![once; 32]})).await.expect(201);
    let all_ended = || async {
        let stats = server.connect().await.get("/queues/default/stats").await.expect(200).json();
        let stats = stats["stats"].clone();
        // The breaker opens after five: what is under way by then ends, the others wait for it.
        let ended = stats["discarded"].as_u64().unwrap_or(0);
        (ended >= 5 && stats["active"] == 0).then_some(())
    };
    until("the deliveries have ended", all_ended).await;
    endpoint.next().await;
    let grown = (resident(&server).await - before) / f64::from(1 << 20);
    assert!(grown < 160.0, "32 answers of at most 1.1 MiB each, and {grown} MiB more");
}
