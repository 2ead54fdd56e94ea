//! The long-poll wait, through the router: wake-ups, time-outs, callers that hang up.
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use ojs_engine::Engine;
use ojs_engine::access::{Access, KeyFile, Role};
use ojs_model::{JobState, Timestamp};
use tower::ServiceExt;

use crate::nodes::application;
use crate::support::Bench;

crate::on_every_store!(
    a_waiting_fetch_is_woken,
    a_caller_that_hangs_up_gives_its_jobs_back,
    closing_ends_the_wait,
    a_waiting_fetch_gets_no_job_once_its_key_is_revoked,
    every_waiting_fetch_gets_one_of_many_jobs
);

async fn post(engine: &Engine, path: &str, body: &str) -> serde_json::Value {
    let request = Request::post(path).header("content-type", "application/json").body(Body::from(body.to_owned())).unwrap();
    let response = engine.router().oneshot(request).await.unwrap();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

const WAITING: &str = r#"{"queues":["q"],"count":1,"wait_ms":60000,"worker_id":"w"}"#;
/// Below the 60 s of the wait, so that only a call can have ended it; far above what a busy machine needs.
const WOKEN: Duration = Duration::from_secs(50);

async fn a_waiting_fetch_is_woken(b: Bench) {
    let fetch = post(&b.engine, "/ojs/v1/workers/fetch", WAITING);
    let enqueue = async {
        tokio::task::yield_now().await;
        b.job().await
    };
    let bound = tokio::time::timeout(WOKEN, async { tokio::join!(fetch, enqueue) });
    let (answer, id) = bound.await.expect("woken long before its 60 s");
    assert_eq!(answer["jobs"][0]["id"], id.to_string());
    assert!(answer["jobs"][0]["lease_token"].is_i64());
}

async fn every_waiting_fetch_gets_one_of_many_jobs(b: Bench) {
    let fetches = futures_util::future::join_all((0..20).map(|_| post(&b.engine, "/ojs/v1/workers/fetch", WAITING)));
    let enqueues = async {
        for _ in 0..20 {
            b.job().await;
        }
    };
    let (answers, ()) = tokio::time::timeout(WOKEN, async { tokio::join!(fetches, enqueues) }).await.expect("all woken");
    let mut ids: Vec<String> = answers.iter().map(|a| a["jobs"][0]["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 20);
}

/// The claim may be under way when the caller goes: then the jobs come back at once, not after the lease.
async fn a_caller_that_hangs_up_gives_its_jobs_back(b: Bench) {
    for _ in 0..50 {
        let engine = b.engine.clone();
        let fetch = tokio::spawn(async move { post(&engine, "/ojs/v1/workers/fetch", WAITING).await });
        tokio::task::yield_now().await;
        let id = b.job().await;
        fetch.abort();
        let held_or_free = match fetch.await {
            // It was faster than the abort: the job is legitimately held.
            Ok(answer) => answer["jobs"][0]["id"] == id.to_string(),
            Err(_) => {
                let engine = b.engine.clone();
                let available = async {
                    while b.state(id).await != JobState::Available {
                        engine.store().sweep().await.unwrap();
                    }
                };
                tokio::time::timeout(Duration::from_secs(60), available).await.is_ok()
            }
        };
        assert!(held_or_free);
        b.engine.store().execute(ojs_engine::command::Cancel(id)).await.unwrap();
    }
}

async fn closing_ends_the_wait(b: Bench) {
    let fetch = post(&b.engine, "/ojs/v1/workers/fetch", WAITING);
    let close = async {
        tokio::task::yield_now().await;
        b.engine.close().await;
    };
    tokio::time::timeout(WOKEN, async { tokio::join!(fetch, close) }).await.expect("answered at once");
    let refused = post(&b.engine, "/ojs/v1/jobs", r#"{"type":"t","args":[]}"#).await;
    assert_eq!(refused["error"]["code"], "backend_unavailable");
}

/// Another program holds the only row of a queue in a transaction while a fetch looks, and changes nothing.
async fn passed_over(body: &str, request: &str) {
    let b = Bench::postgres().await;
    let mut other = application(&b).await;
    let id = b.enqueue(request).await;
    let transaction = other.transaction().await.unwrap();
    assert_eq!(transaction.query("SELECT seq FROM ojs_runs FOR UPDATE", &[]).await.unwrap().len(), 1);
    let (engine, body) = (b.engine.clone(), body.to_owned());
    let at_once = body.replace("60000", "0");
    assert_eq!(post(&engine, "/ojs/v1/workers/fetch", &at_once).await["jobs"], serde_json::json!([]), "it is held");
    let fetch = tokio::spawn(async move { post(&engine, "/ojs/v1/workers/fetch", &body).await });
    // They go through the same writers after it, so it has looked when they are answered.
    for _ in 0..10 {
        assert_eq!(post(&b.engine, "/ojs/v1/workers/fetch", &at_once).await["jobs"], serde_json::json!([]), "still held");
    }
    transaction.rollback().await.unwrap();
    let answer = tokio::time::timeout(WOKEN, fetch).await.expect("long before its 60 s").unwrap();
    assert_eq!(answer["jobs"][0]["id"], id.to_string(), "{answer}");
}

#[tokio::test]
async fn a_waiting_fetch_gets_a_job_that_another_transaction_held_and_left() {
    passed_over(WAITING, r#"{"type":"t","args":[],"options":{"queue":"q"}}"#).await;
}

#[tokio::test]
async fn so_does_one_that_wants_some_types_only() {
    let body = r#"{"queues":["q"],"job_types":["t"],"count":1,"wait_ms":60000,"worker_id":"w"}"#;
    passed_over(body, r#"{"type":"t","args":[],"options":{"queue":"q"}}"#).await;
}

#[tokio::test]
async fn so_does_one_for_a_job_with_a_version() {
    passed_over(WAITING, r#"{"type":"t","args":[],"version":2,"options":{"queue":"q"}}"#).await;
}

async fn a_waiting_fetch_gets_no_job_once_its_key_is_revoked(b: Bench) {
    let path = b.dir.path().join("keys.json");
    let mut file = KeyFile::default();
    let bearer = format!("Bearer {}", file.add("gone", vec![Role::Worker], Timestamp::from_millis(0)).unwrap());
    file.write(&path).unwrap();
    let access = Arc::new(Access::open(&path).unwrap());
    let router = b.engine.guarded_router(Arc::clone(&access));
    let ask = async |path: &str, worker: &str| {
        let body = serde_json::json!({"queues": ["q"], "count": 1, "wait_ms": 60_000, "worker_id": worker}).to_string();
        let request = Request::post(format!("/ojs/v1/workers/{path}")).header("authorization", &bearer);
        let request = request.header("content-type", "application/json").body(Body::from(body)).unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, serde_json::from_slice::<serde_json::Value>(&bytes).unwrap())
    };
    let revoke = async {
        // Both have found no job, and wait.
        while b.http("GET", "/admin/workers", "").await.1["items"].as_array().is_none_or(|workers| workers.len() < 2) {
            tokio::task::yield_now().await;
        }
        KeyFile::change(&path, false, |file| file.revoke("gone")).unwrap();
        access.reload().unwrap();
        b.job().await
    };
    let all = async { tokio::join!(ask("fetch", "w1"), ask("exchange", "w2"), revoke) };
    let (fetched, exchanged, id) = tokio::time::timeout(WOKEN, all).await.expect("answered long before their 60 s");
    for (status, body) in [fetched, exchanged] {
        assert_eq!((status, body["error"]["code"].as_str()), (401, Some("unauthenticated")), "{body}");
        assert!(body["error"]["message"].as_str().unwrap().contains("while the request waited"), "{body}");
    }
    // A claim that had begun is undone, so another worker can claim the job.
    let claimed = async {
        loop {
            if let Some(job) = b.claim(1).await.pop() {
                break job;
            }
        }
    };
    let job = tokio::time::timeout(Duration::from_secs(60), claimed).await.expect("no claim of a revoked key lasts");
    assert_eq!(job.row.id, id);
}
