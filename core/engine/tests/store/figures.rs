//! Figures: now, over time, for Prometheus, for load balancers.
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use ojs_engine::command::{ReadStats, Reset};
use ojs_engine::stats::{HOUR, MINUTE, StatFilter, StatRow};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::admin_http::{call, get, post};
use crate::support::{Bench, START, seconds};

crate::on_every_store!(
    what_happens_is_counted_now_and_over_time,
    figures_reach_the_store_once,
    minutes_become_hours_and_end,
    metrics_tell_the_same,
    bounds_keys_and_dead_letters_have_figures,
    requests_about_many_jobs_have_figures,
    health_and_readiness,
    every_answer_names_its_request,
);

/// One job done in 200 ms after waiting a second, one that failed for good, one that waits.
async fn some_work(b: &Bench) {
    for _ in 0..3 {
        b.job().await;
    }
    b.clock.advance(seconds(1));
    let jobs = b.claim(2).await;
    b.clock.advance(std::time::Duration::from_millis(200));
    b.ack(&jobs[0]).await.unwrap();
    b.nack(&jobs[1], r#"{"code":"x","message":"m","retryable":false}"#).await.unwrap();
}

async fn stored(b: &Bench) -> Vec<StatRow> {
    let all = ReadStats(StatFilter { since: 0, until: i64::MAX, queue: None });
    b.engine.store().query(all).await.unwrap()
}

async fn what_happens_is_counted_now_and_over_time(b: Bench) {
    some_work(&b).await;
    let stats = get(&b, "/admin/stats").await;
    assert_eq!((&stats["queues"], &stats["workers"]), (&json!(1), &json!(1)));
    let jobs = ["available", "completed", "discarded", "active"].map(|state| stats["jobs"][state].as_i64().unwrap());
    assert_eq!(jobs, [1, 1, 1, 0]);
    assert_eq!(stats["throughput"], json!({"enqueued_per_minute": 3.0, "processed_per_minute": 1.0, "failed_per_minute": 1.0}));
    let p50 = stats["latency_ms"]["p50"].as_f64().unwrap();
    assert!((180.0..=220.0).contains(&p50), "{p50}");
    let queue = get(&b, "/admin/queues/q").await;
    assert_eq!((&queue["throughput"], &queue["latency_ms"]), (&stats["throughput"], &stats["latency_ms"]));
    let waited = queue["wait_ms"]["p99"].as_f64().unwrap();
    assert!((900.0..=1100.0).contains(&waited), "{waited}");
    b.advance(seconds(3600)).await;
    let job = b.claim(1).await.remove(0);
    b.ack(&job).await.unwrap();
    let history = get(&b, "/admin/stats/history?period=1h&queue=q").await;
    let told: Vec<_> =
        history["items"].as_array().unwrap().iter().map(|p| (p["enqueued"].clone(), p["processed"].clone())).collect();
    assert_eq!(told, [(json!(3), json!(1)), (json!(0), json!(1))]);
    assert_eq!(get(&b, "/admin/stats/history?period=1d").await["items"][0]["processed"], 2);
    for (path, status) in [("?period=2h", 400), ("?queue=never", 404), ("?period=1m&since=2020-01-01T00:00:00Z", 400)] {
        assert_eq!(call(&b, Method::GET, &format!("/admin/stats/history{path}"), &Value::Null).await.0, status, "{path}");
    }
}

async fn figures_reach_the_store_once(b: Bench) {
    some_work(&b).await;
    b.advance(seconds(0)).await;
    let rows = stored(&b).await;
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!((row.at, row.span, row.enqueued, row.completed, row.failed, row.discarded), (START, MINUTE, 3, 1, 1, 1));
    b.job().await;
    assert_eq!(get(&b, "/admin/stats/history").await["items"][0]["enqueued"], 4, "what is not written yet is told too");
    b.advance(seconds(0)).await;
    assert_eq!(stored(&b).await[0].enqueued, 4);
    b.engine.store().execute(Reset).await.unwrap();
    assert_eq!(get(&b, "/admin/stats/history").await["items"], json!([]));
}

async fn minutes_become_hours_and_end(b: Bench) {
    some_work(&b).await;
    b.advance(seconds(60)).await;
    b.job().await;
    // The last minute was not written yet when the first became an hour: it is added to that.
    b.advance(seconds(26 * 3600)).await;
    b.advance(seconds(301)).await;
    let rows = stored(&b).await;
    let told: Vec<_> = rows.iter().map(|row| (row.at, row.span, row.enqueued, row.completed)).collect();
    assert_eq!(told, [(START, HOUR, 4, 1)]);
    assert_eq!(get(&b, "/admin/stats/history?period=1d").await["items"][0]["enqueued"], 4);
    b.advance(seconds(31 * 24 * 3600)).await;
    assert!(stored(&b).await.iter().all(|row| row.at > START + HOUR));
}

pub async fn scrape(b: &Bench, accept: &str) -> (String, String) {
    let request = Request::builder().uri("/metrics").header("accept", accept).body(Body::empty()).unwrap();
    let response = b.engine.router().oneshot(request).await.unwrap();
    assert_eq!(response.status().as_u16(), 200);
    let media = response.headers()["content-type"].to_str().unwrap().to_owned();
    (media, String::from_utf8(to_bytes(response.into_body(), 1 << 20).await.unwrap().to_vec()).unwrap())
}

async fn metrics_tell_the_same(b: Bench) {
    some_work(&b).await;
    let dead = r#"{"type":"d","args":[],"options":{"queue":"r","retry":{"max_attempts":1,"on_exhaustion":"dead_letter"}}}"#;
    b.enqueue(dead).await;
    let job = b.claim_for(Some("v"), &["r"], 1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    b.claim(1).await;
    post(&b, "/jobs", json!({"nonsense": true})).await;
    let (media, text) = scrape(&b, "text/plain").await;
    assert_eq!(media, "text/plain");
    for line in [
        r#"ojs_job_enqueued_total{queue="q",type="t"} 3"#,
        r#"ojs_job_completed_total{queue="q",type="t"} 1"#,
        r#"ojs_job_failed_total{queue="q",type="t"} 1"#,
        r#"ojs_job_duration_seconds_bucket{le="0.25",queue="q",type="t",state="completed"} 1"#,
        r#"ojs_job_queue_time_seconds_count{queue="q",type="t"} 3"#,
        r#"ojs_queue_depth{queue="q",state="active"} 1"#,
        r#"ojs_queue_depth{queue="q",state="available"} 0"#,
        r#"ojs_workers_busy{queue="q"} 1"#,
        "ojs_dead_letter_total 1.0",
        r#"ojs_dead_letter_added_total{queue="r",type="d"} 1"#,
        "ojs_store_errors_total 0",
        r#"ojs_http_requests_total{method="POST",route="/ojs/v1/jobs",status="400"} 1"#,
    ] {
        assert!(text.lines().any(|known| known == line), "{line} is missing in\n{text}");
    }
    let (media, text) = scrape(&b, "application/openmetrics-text;version=1.0.0,text/plain;q=0.5").await;
    assert!(media.starts_with("application/openmetrics-text") && text.ends_with("# EOF\n"), "{media}");
}

async fn bounds_keys_and_dead_letters_have_figures(b: Bench) {
    let bound = json!({"backpressure": {"max_depth": 2, "strategy": "reject"}});
    assert_eq!(call(&b, Method::PUT, "/admin/queues/full/config", &bound).await.0, 200);
    let into = |queue: &str, more: Value| json!({"type": "t", "args": [], "options": {"queue": queue, "rate_limit": more}});
    for status in [201, 201, 429] {
        assert_eq!(post(&b, "/jobs", into("full", Value::Null)).await.0, status);
    }
    assert_eq!(call(&b, Method::PUT, "/admin/queues/full/config", &json!({"overflow_policy": "drop_oldest"})).await.0, 200);
    assert_eq!(post(&b, "/jobs", into("full", Value::Null)).await.0, 201);
    for _ in 0..2 {
        assert_eq!(post(&b, "/jobs", into("keyed", json!({"key": "api", "concurrency": 1}))).await.0, 201);
    }
    assert_eq!(b.claim_for(None, &["keyed"], 2).await.len(), 1);
    b.enqueue(r#"{"type":"d","args":[],"options":{"queue":"r","retry":{"max_attempts":1,"on_exhaustion":"dead_letter"}}}"#).await;
    let job = b.claim_for(Some("v"), &["r"], 1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    assert_eq!(post(&b, &format!("/dead-letter/{}/retry", job.row.id), json!({})).await.0, 200);
    let (_, text) = scrape(&b, "text/plain").await;
    for line in [
        r#"ojs_backpressure_rejected_total{queue="full",type="t"} 1"#,
        r#"ojs_backpressure_dropped_total{queue="full",type="t"} 1"#,
        r#"ojs_backpressure_pressure{queue="full"} 1.0"#,
        r#"ojs_rate_limit_active{key="api"} 1"#,
        r#"ojs_rate_limit_waiting{key="api"} 1"#,
        r#"ojs_rate_limit_wait_duration_seconds_count{queue="keyed",type="t"} 1"#,
        "ojs_dead_letter_total 0.0",
        r#"ojs_dead_letter_added_total{queue="r",type="d"} 1"#,
        r#"ojs_dead_letter_retried_total{queue="r",type="d"} 1"#,
        r#"ojs_dead_letter_pruned_total{queue="r",type="d"} 0"#,
        r#"ojs_job_enqueue_duration_seconds_count{queue="full"} 3"#,
    ] {
        assert!(text.lines().any(|known| known == line), "{line} is missing in\n{text}");
    }
    let exceeded = text.lines().find_map(|line| line.strip_prefix("ojs_rate_limit_exceeded_total ")).unwrap();
    assert!(exceeded.parse::<u64>().unwrap() >= 1, "{exceeded}");
}

async fn requests_about_many_jobs_have_figures(b: Bench) {
    let job = json!({"type": "t", "args": [], "options": {"queue": "q"}});
    let request = json!({"jobs": [job, job, {"type": "", "args": []}], "idempotency_key": "k"});
    assert_eq!(post(&b, "/jobs/bulk", request.clone()).await.0, 207);
    assert_eq!(post(&b, "/jobs/bulk", request).await.0, 207);
    assert_eq!(post(&b, "/jobs/bulk", json!({"jobs": [job], "atomicity": "atomic"})).await.0, 201);
    assert_eq!(post(&b, "/jobs/bulk/cancel", json!({"filter": {"queue": "q"}})).await.1["cancelled"], 3);
    assert_eq!(post(&b, "/admin/jobs/bulk/delete", json!({"filter": {"queue": "q"}, "confirm": true})).await.1["succeeded"], 3);
    let (_, text) = scrape(&b, "text/plain").await;
    for line in [
        // An answer that is given again is a request, and makes no jobs.
        r#"ojs_bulk_requests_total{operation="enqueue",atomicity="partial"} 2"#,
        r#"ojs_bulk_requests_total{operation="enqueue",atomicity="atomic"} 1"#,
        r#"ojs_bulk_items_total{operation="enqueue",status="created"} 3"#,
        r#"ojs_bulk_items_total{operation="enqueue",status="failed"} 1"#,
        r#"ojs_bulk_items_total{operation="cancel",status="cancelled"} 3"#,
        r#"ojs_bulk_items_total{operation="delete",status="deleted"} 3"#,
        r#"ojs_bulk_batch_size_bucket{le="10.0",operation="enqueue"} 2"#,
        r#"ojs_bulk_batch_size_sum{operation="enqueue"} 4.0"#,
        r#"ojs_bulk_duration_seconds_count{operation="cancel",atomicity="partial"} 1"#,
    ] {
        assert!(text.lines().any(|known| known == line), "{line} is missing in\n{text}");
    }
}

async fn status(b: &Bench, path: &str) -> (u16, Value) {
    let response = b.engine.router().oneshot(Request::builder().uri(path).body(Body::empty()).unwrap()).await.unwrap();
    let status = response.status().as_u16();
    (status, serde_json::from_slice(&to_bytes(response.into_body(), 1 << 20).await.unwrap()).unwrap())
}

async fn health_and_readiness(b: Bench) {
    b.job().await;
    post(&b, "/queues/p/pause", json!({})).await;
    b.beat("w", &[]).await;
    let (code, health) = status(&b, "/health").await;
    assert_eq!((code, &health["status"], &health["backend"]["status"]), (200, &json!("ok"), &json!("ok")));
    assert_eq!(
        (&health["queues"], &health["workers"]),
        (&json!({"active": 1, "paused": 1}), &json!({"connected": 1, "stale": 0}))
    );
    assert_eq!(status(&b, "/ready").await, (200, json!({"status": "ready"})));
    b.engine.close().await;
    assert_eq!(status(&b, "/ready").await, (503, json!({"status": "draining"})));
    let (code, health) = status(&b, "/ojs/v1/health").await;
    assert_eq!((code, &health["status"], &health["backend"]["status"]), (503, &json!("degraded"), &json!("unhealthy")));
}

async fn every_answer_names_its_request(b: Bench) {
    for path in ["/health", "/ready", "/metrics", "/nowhere", "/ojs/manifest"] {
        let request = Request::builder().uri(path).header("x-request-id", "mine-1").body(Body::empty()).unwrap();
        let response = b.engine.router().oneshot(request).await.unwrap();
        assert_eq!(response.headers()["x-request-id"], "mine-1", "{path}");
        let response = b.engine.router().oneshot(Request::builder().uri(path).body(Body::empty()).unwrap()).await.unwrap();
        assert!(response.headers()["x-request-id"].to_str().unwrap().starts_with("req_"), "{path}");
    }
}
