//! Queue settings, bounds and keys with limits over HTTP.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use ojs_engine::{Engine, EngineOptions};
use serde_json::{Value, json};
use tower::ServiceExt;

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Value,
}

async fn engine() -> (Engine, Router) {
    let engine = Engine::open(EngineOptions::new("memory:".parse().unwrap())).await.unwrap();
    let router = engine.router();
    (engine, router)
}

async fn call(router: &Router, method: &str, path: &str, body: Value, header: Option<(&str, &str)>) -> Answer {
    let mut request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    if let Some((name, value)) = header {
        request = request.header(name, value);
    }
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    let response = router.clone().oneshot(request.body(body).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap();
    Answer { status: parts.status, headers: parts.headers, body: serde_json::from_slice(&bytes).unwrap() }
}

fn job(queue: &str) -> Value {
    json!({"type": "t", "args": [], "options": {"queue": queue}})
}

#[tokio::test]
async fn a_queue_has_a_life() {
    let (_engine, router) = engine().await;
    let created = call(&router, "POST", "/ojs/v1/queues", json!({"name": "mail", "config": {"max_size": 3}}), None).await;
    assert_eq!(created.status, 201);
    assert_eq!(created.headers["location"], "/ojs/v1/queues/mail");
    assert_eq!(
        (&created.body["name"], &created.body["state"], &created.body["config"]["max_size"]),
        (&json!("mail"), &json!("active"), &json!(3))
    );
    assert_eq!(call(&router, "POST", "/ojs/v1/queues", json!({"name": "mail"}), None).await.status, 409);
    let put = call(&router, "PUT", "/ojs/v1/queues/mail/config", json!({"concurrency": 2}), None).await;
    assert_eq!(
        (put.status.as_u16(), &put.body["config"]["max_size"], &put.body["config"]["concurrency"]),
        (200, &json!(3), &json!(2))
    );
    call(&router, "POST", "/ojs/v1/jobs", job("mail"), None).await;
    let got = call(&router, "GET", "/ojs/v1/queues/mail", Value::Null, None).await;
    assert_eq!((&got.body["queue"]["available"], &got.body["counts"]["available"]), (&json!(1), &json!(1)));
    let stats = call(&router, "GET", "/ojs/v1/queues/mail/stats", Value::Null, None).await;
    assert_eq!((&stats.body["stats"]["depth"], &stats.body["stats"]["max_depth"]), (&json!(1), &json!(3)));
    let kept = call(&router, "DELETE", "/ojs/v1/queues/mail", Value::Null, None).await;
    assert_eq!(kept.status, 409);
    let odd = call(&router, "DELETE", "/ojs/v1/queues/mail?strategy=move", Value::Null, None).await;
    assert_eq!((odd.status.as_u16(), &odd.body["error"]["details"]["field"]), (400, &json!("target_queue")));
    let moved = call(&router, "DELETE", "/ojs/v1/queues/mail", json!({"strategy": "move", "target_queue": "post"}), None).await;
    assert_eq!((moved.status.as_u16(), &moved.body["jobs_moved"]), (200, &json!(1)));
    assert_eq!(call(&router, "GET", "/ojs/v1/queues/mail", Value::Null, None).await.status, 404);
    let queues = call(&router, "GET", "/ojs/v1/queues", Value::Null, None).await;
    let names: Vec<&str> = queues.body["queues"].as_array().unwrap().iter().map(|q| q["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["default", "post"]);
    assert_eq!(call(&router, "DELETE", "/ojs/v1/queues/default", Value::Null, None).await.status, 409);
}

#[tokio::test]
async fn faults_name_their_field() {
    let (_engine, router) = engine().await;
    for (path, body, field) in [
        ("/ojs/v1/queues/q/config", json!({"max_size": "big"}), "max_size"),
        ("/ojs/v1/admin/queues/q/config", json!({"backpressure": {"strategy": "panic"}}), "overflow_policy"),
        ("/ojs/v1/admin/queues/q/rate-limit", json!({"rate": {"limit": 0, "period": "PT1S"}}), "rate_limit.limit"),
        ("/ojs/v1/admin/queues/q/rate-limit", json!({"max_size": 1}), "max_size"),
        ("/ojs/v1/queues/Not-A-Queue/config", json!({}), "queue"),
    ] {
        let answer = call(&router, "PUT", path, body, None).await;
        assert_eq!((answer.status.as_u16(), &answer.body["error"]["details"]["field"]), (400, &json!(field)), "{path}");
    }
    assert_eq!(
        call(
            &router,
            "PUT",
            "/ojs/v1/admin/queues/q/rate-limit",
            json!({"concurrency": 3, "rate": {"limit": 5, "period": "PT1M"}}),
            None
        )
        .await
        .body["config"],
        json!({"concurrency": 3, "rate_limit": {"limit": 5, "period": "PT1M"}})
    );
}

#[tokio::test]
async fn a_full_queue_says_how_full_it_is() {
    let (_engine, router) = engine().await;
    call(&router, "PUT", "/ojs/v1/queues/q/config", json!({"max_size": 2, "warning_threshold": 0.9}), None).await;
    assert!(!call(&router, "POST", "/ojs/v1/jobs", job("q"), None).await.headers.contains_key("x-ojs-queue-pressure"));
    let warned = call(&router, "POST", "/ojs/v1/jobs", job("q"), None).await;
    assert_eq!((warned.status.as_u16(), &warned.headers["x-ojs-queue-pressure"]), (201, &"1.00".parse().unwrap()));
    let refused = call(&router, "POST", "/ojs/v1/jobs", job("q"), None).await;
    assert_eq!(refused.status, 429);
    assert_eq!((&refused.headers["x-ojs-queue-depth"], &refused.headers["x-ojs-queue-bound"]), (&2.into(), &2.into()));
    assert!(refused.headers.contains_key("retry-after"));
    let error = &refused.body["error"];
    assert_eq!(
        (&error["code"], &error["queue"], &error["details"]["queue"], &error["retryable"]),
        (&json!("QUEUE_FULL"), &json!("q"), &json!("q"), &json!(true))
    );
}

#[tokio::test]
async fn a_blocked_enqueue_goes_on_when_there_is_room() {
    let (_engine, router) = engine().await;
    call(&router, "PUT", "/ojs/v1/queues/q/config", json!({"max_size": 1, "overflow_policy": "block"}), None).await;
    call(&router, "POST", "/ojs/v1/jobs", job("q"), None).await;
    assert_eq!(call(&router, "POST", "/ojs/v1/jobs", job("q"), None).await.status, 429, "without the header it does not wait");
    assert_eq!(call(&router, "POST", "/ojs/v1/jobs", job("q"), Some(("ojs-block-timeout", "soon"))).await.status, 400);
    let blocked = call(&router, "POST", "/ojs/v1/jobs", job("q"), Some(("ojs-block-timeout", "30")));
    let claim = call(&router, "POST", "/ojs/v1/workers/fetch", json!({"queues": ["q"]}), None);
    let (blocked, claimed) = tokio::join!(blocked, claim);
    assert_eq!((blocked.status.as_u16(), claimed.body["jobs"].as_array().unwrap().len()), (201, 1));
    let events = call(&router, "GET", "/ojs/v1/events?types=backpressure.rejected", Value::Null, None).await;
    assert_eq!(events.body["events"].as_array().unwrap().len(), 1, "the one that waited was not rejected");
}

fn keyed(policy: Value) -> Value {
    json!({"type": "t", "args": [], "options": {"queue": "q", "rate_limit": policy}})
}

#[tokio::test]
async fn a_key_can_be_read_and_overridden() {
    let (_engine, router) = engine().await;
    let policy = json!({"key": "api:x", "concurrency": 2, "rate": {"limit": 5, "period": "PT1M"}, "throttle": {"limit": 10, "period": "PT10M"}});
    let enqueued = call(&router, "POST", "/ojs/v1/jobs", keyed(policy), None).await;
    assert_eq!((&enqueued.headers["x-ratelimit-limit"], &enqueued.headers["x-ratelimit-remaining"]), (&5.into(), &1.into()));
    call(&router, "POST", "/ojs/v1/workers/fetch", json!({"queues": ["q"]}), None).await;
    let key = call(&router, "GET", "/ojs/v1/rate-limits/api:x", Value::Null, None).await.body;
    assert_eq!(key["key"], "api:x");
    assert_eq!(key["concurrency"], json!({"limit": 2, "active": 1, "available": 1}));
    assert_eq!(
        (&key["rate"]["limit"], &key["rate"]["period"], &key["rate"]["current_count"]),
        (&json!(5), &json!("PT1M"), &json!(1))
    );
    assert!(key["throttle"]["next_allowed_at"].is_string());
    assert_eq!(key["waiting_count"], 0);
    let list = call(&router, "GET", "/ojs/v1/rate-limits", Value::Null, None).await.body;
    assert_eq!((&list["items"][0]["key"], &list["pagination"]["total"]), (&json!("api:x"), &json!(1)));
    assert_eq!(call(&router, "GET", "/ojs/v1/rate-limits/nobody", Value::Null, None).await.status, 404);
    let path = "/ojs/v1/rate-limits/api:x";
    let put = call(&router, "PUT", path, json!({"concurrency": 9, "expires_at": "+PT1H"}), None).await;
    assert_eq!(
        (put.status.as_u16(), &put.body["concurrency"]["limit"], &put.body["override"]["policy"]["concurrency"]),
        (200, &json!(9), &json!(2))
    );
    for (body, field) in [
        (json!({"concurrency": 9}), "expires_at"),
        (json!({"concurrency": 9, "expires_at": "2020-01-01T00:00:00Z"}), "expires_at"),
        (json!({"concurrency": "many", "expires_at": "+PT1H"}), "rate_limit.concurrency"),
    ] {
        let answer = call(&router, "PUT", path, body, None).await;
        assert_eq!((answer.status.as_u16(), &answer.body["error"]["details"]["field"]), (400, &json!(field)));
    }
    let ended = call(&router, "PUT", path, json!({}), None).await;
    assert_eq!((&ended.body["concurrency"]["limit"], &ended.body["override"]), (&json!(2), &Value::Null));
}

#[tokio::test]
async fn a_waiting_fetch_goes_on_when_a_slot_frees() {
    let (_engine, router) = engine().await;
    for _ in 0..2 {
        call(&router, "POST", "/ojs/v1/jobs", keyed(json!({"key": "k", "concurrency": 1})), None).await;
    }
    let first = call(&router, "POST", "/ojs/v1/workers/fetch", json!({"queues": ["q"]}), None).await;
    let wait = call(&router, "POST", "/ojs/v1/workers/fetch", json!({"queues": ["q"], "wait_ms": 60_000}), None);
    let ack = call(&router, "POST", "/ojs/v1/workers/ack", json!({"job_id": first.body["jobs"][0]["id"]}), None);
    let (waited, _) = tokio::join!(wait, ack);
    assert_eq!(waited.body["jobs"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_waiting_fetch_goes_on_when_time_opens_a_key() {
    let (_engine, router) = engine().await;
    for _ in 0..2 {
        call(&router, "POST", "/ojs/v1/jobs", keyed(json!({"key": "k", "rate": {"limit": 1, "period": "PT0.3S"}})), None).await;
    }
    let started = std::time::Instant::now();
    call(&router, "POST", "/ojs/v1/workers/fetch", json!({"queues": ["q"]}), None).await;
    let waited = call(&router, "POST", "/ojs/v1/workers/fetch", json!({"queues": ["q"], "wait_ms": 60_000}), None).await;
    assert_eq!(waited.body["jobs"].as_array().unwrap().len(), 1);
    assert!(started.elapsed() < std::time::Duration::from_secs(40), "time opened the key, not the end of the wait");
}
