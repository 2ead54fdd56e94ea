//! Every field with values of the wrong type or out of range.
use ojs_tests::job_id;
use serde_json::{Value, json};

use super::target::Target;

/// A job with one member replaced, at the top level or inside `options`.
fn job_with(place: &str, field: &str, value: &Value) -> Value {
    let mut job = json!({"type": "test.plain", "args": []});
    if place == "options" {
        job["options"] = json!({field: value});
    } else {
        job[field] = value.clone();
    }
    job
}

/// Values that are wrong for the field, wherever it stands.
fn wrong_values(field: &str) -> Vec<Value> {
    match field {
        "type" => vec![
            json!(null),
            json!(1),
            json!(true),
            json!([]),
            json!({}),
            json!(""),
            json!("Email.Send"),
            json!("email send"),
            json!("1email"),
            json!("email..send"),
            json!(".email"),
            json!("email."),
            json!("email@send"),
            json!("é"),
            json!("a\u{0}b"),
            json!("a".repeat(256)),
        ],
        "args" => vec![json!(null), json!(1), json!(true), json!("x"), json!({"a": 1})],
        "id" => vec![json!(1), json!(true), json!([]), json!({}), json!("x")],
        "specversion" => vec![json!("2.0"), json!("0.9"), json!("x"), json!("")],
        "queue" => vec![
            json!(1),
            json!(true),
            json!([]),
            json!({}),
            json!(""),
            json!("Queue"),
            json!("a b"),
            json!("a_b"),
            json!("-a"),
            json!("a/b"),
            json!("a\u{0}"),
            json!("é"),
            json!("q".repeat(129)),
        ],
        "priority" => vec![json!("high"), json!("5"), json!(1.5), json!(true), json!([]), json!(101), json!(-101), json!(1e30)],
        "meta" | "metadata" => vec![json!(1), json!("x"), json!([]), json!(true)],
        "tags" => vec![json!("x"), json!({}), json!(1), json!([1]), json!([null])],
        "scheduled_at" | "delay_until" | "expires_at" => vec![
            json!(1),
            json!(true),
            json!([]),
            json!("tomorrow"),
            json!("2026-13-01T00:00:00Z"),
            json!("2026-02-30T00:00:00Z"),
            json!("2026-01-01T00:00:00"),
            json!("2026-01-01"),
            json!("PT5S"),
            json!("+5"),
            json!("+PT"),
            json!("+P-1D"),
        ],
        "timeout_ms" => vec![json!("1"), json!(-1), json!(1.5), json!(true), json!({}), json!(1e30)],
        "visibility_timeout_ms" => vec![json!("1000"), json!(-1), json!(0), json!(999), json!(1.5), json!(true)],
        "pending" => vec![json!("yes"), json!(1), json!([])],
        "retry" => vec![json!(3), json!("x"), json!([]), json!(true)],
        other => panic!("no values for {other}"),
    }
}

#[tokio::test]
async fn every_field_of_a_job_is_checked() {
    let mut target = Target::new().await;
    let top =
        ["type", "args", "id", "specversion", "queue", "priority", "meta", "tags", "scheduled_at", "expires_at", "timeout_ms"];
    let options = [
        "queue",
        "priority",
        "metadata",
        "tags",
        "scheduled_at",
        "delay_until",
        "expires_at",
        "timeout_ms",
        "visibility_timeout_ms",
        "pending",
    ];
    let places = top.map(|field| ("top", field)).into_iter().chain(options.map(|field| ("options", field)));
    for (place, field) in places {
        for value in wrong_values(field) {
            let job = job_with(place, field, &value);
            let error = target.refuses("/jobs", job.to_string(), 400, "invalid_payload").await;
            let named = error["details"]["field"].as_str().unwrap_or_default();
            assert!(named.ends_with(field) || (named == "meta" && field == "metadata"), "{job}: {error}");
        }
    }
    for options in [json!(1), json!("x"), json!([]), json!(true)] {
        let job = json!({"type": "test.plain", "args": [], "options": options});
        target.refuses("/jobs", job.to_string(), 400, "invalid_payload").await;
    }
}

#[tokio::test]
async fn a_wrong_element_names_its_place_and_stops_the_batch() {
    let mut target = Target::new().await;
    for (field, values) in ["type", "args", "queue", "priority"].map(|field| (field, wrong_values(field))) {
        for value in values {
            let batch = json!({"jobs": [{"type": "test.plain", "args": []}, job_with("top", field, &value)]});
            let error = target.refuses("/jobs/batch", batch.to_string(), 400, "invalid_payload").await;
            assert_eq!((&error["details"]["index"], &error["details"]["field"]), (&json!(1), &json!(field)), "{batch}");
        }
    }
    for jobs in [json!(null), json!({}), json!("x"), json!([]), json!([1]), json!([[]]), json!([null])] {
        target.refuses("/jobs/batch", json!({"jobs": jobs}).to_string(), 400, "invalid_payload").await;
    }
}

#[tokio::test]
async fn a_retry_policy_out_of_range_is_a_validation_error() {
    let mut target = Target::new().await;
    let policies = [
        ("max_attempts", json!({"max_attempts": -1})),
        ("max_attempts", json!({"max_attempts": "3"})),
        ("max_attempts", json!({"max_attempts": 1.5})),
        ("backoff_coefficient", json!({"backoff_coefficient": 0.5})),
        ("backoff_coefficient", json!({"backoff_coefficient": "2"})),
        ("initial_interval", json!({"initial_interval": "soon"})),
        ("initial_interval", json!({"initial_interval": -1})),
        ("max_interval", json!({"max_interval": "P"})),
        ("jitter", json!({"jitter": "yes"})),
        ("on_exhaustion", json!({"on_exhaustion": "explode"})),
    ];
    for (field, policy) in policies {
        for job in [job_with("options", "retry", &policy), job_with("top", "retry", &policy)] {
            let error = target.refuses("/jobs", job.to_string(), 422, "validation_error").await;
            assert_eq!(error["type"], "validation_error");
            assert!(error["message"].as_str().unwrap().contains(field), "{policy}: {error}");
        }
    }
    for value in wrong_values("retry") {
        let error = target.refuses("/jobs", job_with("options", "retry", &value).to_string(), 422, "validation_error").await;
        assert!(error["message"].as_str().unwrap().contains("retry"), "{value}: {error}");
    }
}

#[tokio::test]
async fn worker_calls_check_their_fields() {
    let mut target = Target::new().await;
    target.enqueue().await;
    let held = target.fetch().await;
    let id = held["id"].as_str().unwrap();
    let fetch = |field: &str, value: Value| {
        let mut body = json!({"queues": ["default"], "worker_id": "w"});
        body[field] = value;
        ("/workers/fetch", body)
    };
    let ack = |path: &'static str, field: &str, value: Value| {
        let mut body = json!({"job_id": id, "error": {"code": "handler_error", "message": "no"}});
        body[field] = value;
        (path, body)
    };
    let mut wrong = Vec::new();
    for value in [json!(null), json!([]), json!("default"), json!({}), json!([1]), json!([""]), json!(["A b"])] {
        wrong.push(fetch("queues", value));
    }
    for value in [json!(0), json!(-1), json!("1"), json!(1.5), json!([])] {
        wrong.push(fetch("count", value));
    }
    for value in [json!(1), json!({}), json!([])] {
        wrong.push(fetch("worker_id", value));
    }
    for value in [json!("1000"), json!(0), json!(999), json!(-5)] {
        wrong.push(fetch("visibility_timeout_ms", value));
    }
    for value in [json!("1"), json!(-1), json!(true)] {
        wrong.push(fetch("wait_ms", value));
    }
    for path in ["/workers/ack", "/workers/nack"] {
        for value in [json!(null), json!(1), json!({}), json!([])] {
            wrong.push(ack(path, "job_id", value));
        }
        for value in [json!("1"), json!(1.5), json!({}), json!(true)] {
            wrong.push(ack(path, "lease_token", value));
        }
    }
    for value in [json!(null), json!(1), json!("x"), json!([]), json!({}), json!({"message": 5})] {
        wrong.push(ack("/workers/nack", "error", value));
    }
    for worker in [json!(null), json!(""), json!(1), json!([])] {
        wrong.push(("/workers/heartbeat", json!({"worker_id": worker, "active_jobs": 0})));
    }
    for active in [json!("x"), json!({}), json!(true)] {
        wrong.push(("/workers/heartbeat", json!({"worker_id": "w", "active_jobs": active})));
    }
    for (path, body) in wrong {
        target.refuses(path, body.to_string(), 400, "invalid_payload").await;
    }
    assert_eq!(target.job(id).await["state"], "active");
}

#[tokio::test]
async fn ids_that_name_nothing_are_not_found() {
    let mut target = Target::new().await;
    let ghost = job_id();
    for path in ["/workers/ack", "/workers/nack"] {
        for id in [ghost.as_str(), "x", "../../etc/passwd"] {
            let body = json!({"job_id": id, "error": {"code": "handler_error", "message": "no"}});
            target.refuses(path, body.to_string(), 404, "not_found").await;
        }
    }
    for path in [&format!("/jobs/{ghost}/activate"), &format!("/dead-letter/{ghost}/retry")] {
        target.refuses(path, "{}", 404, "not_found").await;
    }
    for path in
        [&format!("/jobs/{ghost}"), "/jobs/x", "/jobs/%00", "/jobs/..%2F..%2Fhealth", "/jobs/%F0%9F%98%80", "/dead-letter/x"]
    {
        for method in ["GET", "DELETE"] {
            let answer = target.reconnect().await.call(method, path, "").await.unwrap();
            super::target::check_refusal(&answer, 404, "not_found", path);
        }
    }
}

#[tokio::test]
async fn query_parameters_are_checked() {
    let mut target = Target::new().await;
    for path in [
        "/dead-letter?limit=x",
        "/dead-letter?offset=-1",
        "/queues?limit=1.5",
        "/events?limit=many",
        "/dead-letter?since=yesterday",
    ] {
        let answer = target.reconnect().await.get(path).await;
        super::target::check_refusal(&answer, 400, "invalid_request", path);
    }
    // Too much is not wrong, only bounded.
    for path in ["/dead-letter?limit=100000", "/queues?limit=100000", "/events?limit=100000"] {
        target.reconnect().await.get(path).await.expect(200);
    }
}
