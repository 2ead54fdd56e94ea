//! Sizes, counts and numbers of requests have bounds, and a refusal names the field.
use ojs_engine::rows::DeadFilter;
use serde_json::json;

use crate::on_every_store;
use crate::support::Bench;

on_every_store!(
    what_is_too_long_or_too_much_is_refused_by_name,
    numbers_that_few_parsers_read_are_refused,
    a_job_without_a_handler_is_a_dead_letter,
    unknown_options_are_told,
);

async fn what_is_too_long_or_too_much_is_refused_by_name(b: Bench) {
    let long = "w".repeat(256);
    let id = "01900000-0000-7000-8000-000000000000";
    for (path, body, field) in [
        ("/workers/fetch", json!({"queues": ["q"], "worker_id": long}), "worker_id"),
        ("/workers/fetch", json!({"queues": ["q"], "worker_id": "a\nb"}), "worker_id"),
        ("/workers/exchange", json!({"worker_id": long}), "worker_id"),
        ("/workers/heartbeat", json!({"worker_id": long}), "worker_id"),
        ("/workers/ack", json!({"job_id": id, "worker_id": long}), "worker_id"),
        (
            "/workers/fetch",
            json!({"queues": ["q"], "visibility_timeout_ms": 9_223_372_036_854_775_808_u64}),
            "visibility_timeout_ms",
        ),
        ("/workers/heartbeat", json!({"worker_id": "w", "visibility_timeout_ms": 1_u64 << 63}), "visibility_timeout_ms"),
        ("/workers/nack", json!({"job_id": id, "requeue": true, "delay_ms": u64::MAX}), "delay_ms"),
        ("/jobs", json!({"type": "t", "args": [], "options": {"visibility_timeout_ms": 1_u64 << 50}}), "visibility_timeout_ms"),
        ("/workers/fetch", json!({"queues": ["q"], "job_types": ["Not a type"]}), "job_types"),
        ("/workflows", json!({"type": "chain", "steps": [{"id": long, "type": "t", "args": []}]}), "$.steps[0].id"),
    ] {
        let (status, answer) = b.http("POST", path, &body.to_string()).await;
        let named = answer["error"]["details"]["field"].as_str().unwrap_or_default();
        assert_eq!(status, 400, "{path} {field}: {answer}");
        assert!(named == field || field.starts_with('$') && named.ends_with("steps[0].id"), "{path} {field}: {answer}");
    }
    let ids = vec![id; 10_001];
    let outcomes: Vec<_> = ids.iter().map(|id| json!({"job_id": id})).collect();
    for (path, body, field) in [
        ("/workers/heartbeat", json!({"worker_id": "w", "active_jobs": ids}), "active_jobs"),
        ("/workers/exchange", json!({"outcomes": outcomes}), "outcomes"),
        ("/workers/fetch", json!({"queues": vec!["q"; 1_001]}), "queues"),
        ("/workers/fetch", json!({"queues": ["q"], "job_types": vec!["t"; 257]}), "job_types"),
    ] {
        let (status, answer) = b.http("POST", path, &body.to_string()).await;
        let expected = (json!("batch_size_exceeded"), json!(field));
        assert!((400..=413).contains(&status), "{path}: {answer}");
        let error = &answer["error"];
        assert_eq!((error["code"].clone(), error["details"]["field"].clone()), expected, "{path}: {answer}");
    }
    assert_eq!(b.http("GET", "/admin/workers", "").await.1["pagination"]["total"], 0, "no worker was made");
}

async fn numbers_that_few_parsers_read_are_refused(b: Bench) {
    for number in ["1e400".to_owned(), "7".repeat(100_000)] {
        for body in
            [format!(r#"{{"type":"t","args":[{number}]}}"#), format!(r#"{{"type":"t","args":[],"meta":{{"n":{number}}}}}"#)]
        {
            let (status, answer) = b.http("POST", "/jobs", &body).await;
            assert_eq!((status, &answer["error"]["code"]), (400, &json!("invalid_payload")));
        }
        let id = b.job().await;
        let job = b.claim(1).await.remove(0);
        let ack = format!(r#"{{"job_id":"{id}","result":{number}}}"#);
        assert_eq!(b.http("POST", "/workers/ack", &ack).await.0, 400);
        b.ack(&job).await.unwrap();
    }
}

async fn a_job_without_a_handler_is_a_dead_letter(b: Bench) {
    let id = b.job().await;
    let job = b.claim(1).await.remove(0);
    b.nack(&job, r#"{"code":"no_handler","message":"no handler for t","retryable":false}"#).await.unwrap();
    assert_eq!(b.dead(DeadFilter::default()).await.0, [id]);
    let (events, _, _) = b.events(ojs_engine::EventFilter::default()).await;
    let exhausted = events.iter().find(|event| event.name == "job.retry_exhausted").unwrap();
    assert!(format!("{exhausted:?}").contains("no_handler"), "{exhausted:?}");
    let (status, answer) = b.http("POST", &format!("/dead-letter/{id}/retry"), "").await;
    assert_eq!(status, 200, "{answer}");
    b.ack(&b.claim(1).await.remove(0)).await.unwrap();
}

async fn unknown_options_are_told(b: Bench) {
    let job = json!({"type": "t", "args": [], "options": {"queue": "q", "retries": 5}});
    let (status, answer) = b.http("POST", "/jobs", &job.to_string()).await;
    let told = "options.retries is not known and has no effect; did you mean retry?";
    assert_eq!((status, &answer["warnings"]), (201, &json!([told])));
    let good = json!({"type": "t", "args": [], "options": {"queue": "q", "meta": {}, "timeout_ms": 5}});
    let (status, answer) = b.http("POST", "/jobs/batch", &json!({"jobs": [good, job]}).to_string()).await;
    assert_eq!((status, &answer["warnings"]), (201, &json!([format!("jobs[1].{told}")])));
    assert!(b.http("POST", "/jobs", &good.to_string()).await.1.get("warnings").is_none());
}
