//! Scenario 52: requests that a real server has sent, at a handler of the Rust package, as they are and changed.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use ojs::serverless::PushHandler;
use ojs_tests::{ServerProcess, until};
use serde_json::json;

use super::endpoint::{Endpoint, Reply, Request};
use super::faults::reason_in_list;
use super::{ALLOW, enqueued, state};
use crate::common::{fails, json_of, says};

const ONE: &str = "whsec_secret_of_one_endpoint";
const OTHER: &str = "whsec_secret_of_another_endpoint";

/// A function that knows a secret, and how often its handler has run. Its clock differs by so many seconds.
async fn function(secret: &str, ahead: i64) -> (PushHandler, Arc<AtomicUsize>) {
    let clock = move || i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_secs()).unwrap() + ahead;
    let handler: PushHandler = PushHandler::builder().signing_secret(secret).clock(clock).build().await.unwrap();
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let run = move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok(()) }
    };
    handler.register("one.job", run).unwrap();
    (handler, runs)
}

/// Gives a request to a function; the status of its answer.
async fn status(handler: &PushHandler, request: &Request) -> u16 {
    let headers: HeaderMap = request
        .headers
        .iter()
        .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap()))
        .collect();
    handler.answer(&Method::POST, &headers, request.body.as_bytes()).await.status().as_u16()
}

/// The request of the next job of type `one.job`.
async fn next(server: &ServerProcess, endpoint: &mut Endpoint) -> Request {
    enqueued(server, "one.job").await;
    endpoint.next().await
}

#[tokio::test]
async fn scenario_52_forged_replayed_stale_and_cross_endpoint_signatures_are_refused() {
    let server = ServerProcess::start("sqlite", &ALLOW).await;
    let mut endpoint = Endpoint::new(vec![Reply::json(&json!({"status": "completed"}))]).await;
    let id = json_of(&server, &["push", "add", &endpoint.url(), "one.job", "--secret", ONE]).await["id"].clone();
    let id = id.as_str().unwrap();
    let mut request = next(&server, &mut endpoint).await;
    let (handler, runs) = function(ONE, 0).await;
    assert_eq!((status(&handler, &request).await, runs.load(Ordering::SeqCst)), (200, 1), "as it was sent");
    assert_eq!((status(&handler, &request).await, runs.load(Ordering::SeqCst)), (200, 1), "replayed: the handler is not called");
    for ahead in [301, 600, -301, -600] {
        let (elsewhere, runs) = function(ONE, ahead).await;
        assert_eq!((status(&elsewhere, &request).await, runs.load(Ordering::SeqCst)), (401, 0), "{ahead} s later");
    }
    let (other, others) = function(OTHER, 0).await;
    assert_eq!((status(&other, &request).await, others.load(Ordering::SeqCst)), (401, 0), "of another endpoint");
    let sent = request.body.clone();
    request.body = sent.replace("one.job", "two.job");
    assert_eq!(status(&handler, &request).await, 401, "another body");
    request.body = sent;
    request.headers.retain(|name, _| name != "x-ojs-signature" && name != "webhook-signature");
    assert_eq!((status(&handler, &request).await, runs.load(Ordering::SeqCst)), (401, 1), "without a signature");

    let fresh = json_of(&server, &["push", "rotate", id]).await["config"]["signing_secret"].as_str().unwrap().to_owned();
    let request = next(&server, &mut endpoint).await;
    for secret in [ONE, &fresh] {
        let (handler, runs) = function(secret, 0).await;
        assert_eq!((status(&handler, &request).await, runs.load(Ordering::SeqCst)), (200, 1), "both secrets are valid");
    }
    assert_eq!(status(&other, &request).await, 401);
}

#[tokio::test]
async fn scenario_52_redirects_and_private_targets_are_refused_and_slow_bodies_are_bounded() {
    let strict = ServerProcess::memory().await;
    for target in ["https://127.0.0.1/", "https://[::1]/", "https://10.0.0.1/", "https://169.254.169.254/", "http://example.com/"]
    {
        let refusal = fails(&strict.url(), &["push", "add", target, "t"], 1).await;
        assert!(refusal.contains("is not a public address") || refusal.contains("must begin with https://"), "{refusal}");
    }
    let server = ServerProcess::start("sqlite", &ALLOW).await;
    let target = Endpoint::answering(200).await;
    for (job_type, reply, code) in
        [("redirect", Reply::redirect(308, &target.url()), "push_redirected"), ("drip", Reply::Drip, "push_timeout")]
    {
        let endpoint = Endpoint::new(vec![reply]).await;
        says(&server, &["push", "add", &endpoint.url(), job_type, "--timeout-ms", "500"]).await;
        let job = enqueued(&server, job_type).await;
        reason_in_list(&server, &endpoint.url()).await;
        until("the job waits", || async { (state(&server, &job).await == "retryable").then_some(()) }).await;
        let found = server.connect().await.get(&format!("/jobs/{job}")).await.expect(200).job();
        assert_eq!(found["error"]["code"], code, "{found}");
    }
    assert_eq!(target.connections(), 0);
}
