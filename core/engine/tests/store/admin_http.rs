//! The admin API over HTTP: shapes and refusals.
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use ojs_model::JobState;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::support::{Bench, seconds};

crate::on_every_store!(
    a_job_is_shown_bare_cancelled_and_retried,
    lists_come_in_pages,
    lists_of_all_states_have_every_order,
    bad_questions_get_clear_answers,
    a_queue_is_shown_and_paused,
    workers_are_shown_with_what_they_told,
    a_draining_worker_is_not_healthy,
    an_operators_word_holds_before_the_worker_has_heard_it,
    dead_letters_are_paged_and_deleted,
    maintenance_is_told,
);

pub async fn call(b: &Bench, method: Method, path: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    let request = Request::builder().method(&method).uri(format!("/ojs/v1{path}")).body(body).unwrap();
    let response = b.engine.router().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
    crate::declared::check(method.as_str(), path, status, &body);
    (status, body)
}

pub async fn get(b: &Bench, path: &str) -> Value {
    let (status, body) = call(b, Method::GET, path, &Value::Null).await;
    assert_eq!(status, 200, "{path}: {body}");
    body
}

pub async fn post(b: &Bench, path: &str, body: Value) -> (u16, Value) {
    call(b, Method::POST, path, &body).await
}

async fn a_job_is_shown_bare_cancelled_and_retried(b: Bench) {
    let id = b.enqueue(r#"{"type":"t","args":[{"n":1}],"meta":{"k":"v"},"options":{"queue":"q"}}"#).await;
    let job = get(&b, &format!("/admin/jobs/{id}")).await;
    assert_eq!((&job["id"], &job["args"], &job["meta"]["k"]), (&json!(id.to_string()), &json!([{"n": 1}]), &json!("v")));
    assert_eq!((&job["errors"], &job["retry_policy"]["max_attempts"]), (&json!([]), &json!(3)));
    assert_eq!(job["metadata"]["created_at"], job["created_at"]);
    let (status, job) = post(&b, &format!("/admin/jobs/{id}/cancel"), Value::Null).await;
    assert_eq!((status, &job["state"]), (200, &json!("cancelled")));
    assert!(job["metadata"]["cancelled_at"].is_string());
    // Cancelled is final; discarded is not.
    assert_eq!(post(&b, &format!("/admin/jobs/{id}/retry"), json!({})).await.0, 409);
    let failed = b.job_in(JobState::Discarded).await;
    let (status, job) = post(&b, &format!("/admin/jobs/{failed}/retry"), json!({})).await;
    assert_eq!(
        (status, &job["state"], &job["attempt"], job["errors"].as_array().unwrap().len()),
        (200, &json!("available"), &json!(0), 1)
    );
    assert_eq!(call(&b, Method::GET, "/admin/jobs/nonsense", &Value::Null).await.0, 404);
    // A member of the client's own name is not replaced.
    let own = b.enqueue(r#"{"type":"t","args":[],"metadata":7}"#).await;
    assert_eq!(get(&b, &format!("/admin/jobs/{own}")).await["metadata"], 7);
}

async fn lists_come_in_pages(b: Bench) {
    for _ in 0..3 {
        b.job().await;
    }
    let page = get(&b, "/admin/jobs?per_page=2").await;
    assert_eq!(page["items"].as_array().unwrap().len(), 2);
    let mut pagination = page["pagination"].clone();
    let next = pagination.as_object_mut().unwrap().remove("next_cursor").unwrap();
    assert_eq!(pagination, json!({"total": 3, "page": 1, "per_page": 2, "has_more": true, "complete": true}));
    let last = get(&b, &format!("/admin/jobs?per_page=2&cursor={}", next.as_str().unwrap())).await;
    assert_eq!((last["items"].as_array().unwrap().len(), &last["pagination"]["next_cursor"]), (1, &Value::Null));
    let last = get(&b, "/admin/jobs?per_page=2&page=2&state=available&order=asc&sort=created_at").await;
    assert_eq!((last["items"].as_array().unwrap().len(), &last["pagination"]["has_more"]), (1, &json!(false)));
    assert_eq!(get(&b, "/admin/jobs?per_page=5000").await["pagination"]["per_page"], 100);
    let since = b.now();
    b.advance(seconds(1)).await;
    let text = ojs_model::Timestamp::from_millis(since + 500).to_string();
    assert_eq!(get(&b, &format!("/admin/jobs?since={text}")).await["pagination"]["total"], 0);
    assert_eq!(get(&b, &format!("/admin/jobs?until={text}")).await["pagination"]["total"], 3);
}

async fn lists_of_all_states_have_every_order(b: Bench) {
    let later = ojs_model::Timestamp::from_millis(b.now() + 60_000);
    let mut ids = Vec::new();
    for (priority, more) in [(5, String::new()), (-5, format!(r#","scheduled_at":"{later}""#)), (0, String::new())] {
        let job = format!(r#"{{"type":"t","args":[],"options":{{"queue":"q","priority":{priority}{more}}}}}"#);
        ids.push(b.enqueue(&job).await.to_string());
        b.advance(seconds(1)).await;
    }
    for (order, expected) in [
        ("sort=priority", [0, 2, 1]),
        ("sort=priority&order=asc", [1, 2, 0]),
        ("sort=scheduled_at", [1, 2, 0]),
        ("sort=scheduled_at&order=asc", [0, 2, 1]),
        ("sort=created_at&order=asc", [0, 1, 2]),
    ] {
        let page = get(&b, &format!("/admin/jobs?queue=q&{order}")).await;
        let found: Vec<_> = page["items"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap()).collect();
        assert_eq!(found, expected.map(|index| ids[index].as_str()), "{order}");
    }
    assert_eq!(get(&b, "/admin/jobs?sort=priority&state=completed").await["items"], json!([]));
}

async fn bad_questions_get_clear_answers(b: Bench) {
    for (path, field) in [
        ("/admin/jobs?state=lost", "state"),
        ("/admin/jobs?sort=colour", "sort"),
        ("/admin/jobs?order=up", "order"),
        ("/admin/jobs?since=yesterday", "since"),
        ("/admin/jobs?page=x", "page"),
        ("/admin/jobs?type=A%20B", "type"),
        ("/admin/dead-letter?until=x", "until"),
    ] {
        let (status, body) = call(&b, Method::GET, path, &Value::Null).await;
        assert_eq!(
            (status, &body["error"]["code"], &body["error"]["details"]["field"]),
            (400, &json!("invalid_request"), &json!(field)),
            "{path}"
        );
    }
    for (path, body) in [
        ("/admin/system/maintenance", json!({})),
        ("/admin/system/maintenance", json!({"enabled": true, "estimated_duration": "soon"})),
        ("/admin/system/maintenance", json!({"enabled": true, "reason": "x".repeat(1001)})),
    ] {
        assert_eq!(post(&b, path, body).await.0, 400);
    }
    assert_eq!(post(&b, "/admin/workers/w/dance", json!({})).await.0, 404);
}

async fn a_queue_is_shown_and_paused(b: Bench) {
    b.job().await;
    let list = get(&b, "/admin/queues").await;
    let queue = &list["items"][0];
    assert_eq!((&queue["name"], &queue["state"], &queue["counts"]["available"]), (&json!("q"), &json!("active"), &json!(1)));
    assert_eq!(list["pagination"]["total"], 1);
    let (status, body) = post(&b, "/admin/queues/q/pause", Value::Null).await;
    assert_eq!((status, &body["name"], &body["paused"], body["paused_at"].is_string()), (200, &json!("q"), &json!(true), true));
    let queue = get(&b, "/admin/queues/q").await;
    assert_eq!((&queue["state"], queue["oldest_available_at"].is_string()), (&json!("paused"), true));
    let unset = json!({"concurrency": null, "rate_limit": null, "retention": null, "backpressure": null});
    assert_eq!(queue["configuration"], unset);
    let bounds = json!({"max_depth": 9, "max_size_bytes": null, "strategy": "reject", "warning_threshold": 0.5});
    let settings = json!({"concurrency": 5, "backpressure": bounds});
    let (status, told) = call(&b, Method::PUT, "/admin/queues/q/config", &settings).await;
    assert_eq!((status, &told["backpressure"]), (200, &bounds));
    let queue = get(&b, "/admin/queues/q").await;
    assert_eq!((&queue["configuration"]["concurrency"], &queue["configuration"]["backpressure"]), (&json!(5), &bounds));
    assert_eq!(post(&b, "/admin/queues/q/resume", json!({})).await.1["paused"], false);
    assert_eq!(call(&b, Method::GET, "/admin/queues/never", &Value::Null).await.0, 404);
}

async fn workers_are_shown_with_what_they_told(b: Bench) {
    let beat = json!({"worker_id": "w", "state": "running", "active_jobs": 0, "hostname": "h", "pid": 7, "queues": ["q"],
        "concurrency": 10, "version": "1.2", "labels": {"zone": "a"}});
    post(&b, "/workers/heartbeat", beat).await;
    post(&b, "/workers/heartbeat", json!({"worker_id": "v", "state": "quiet"})).await;
    b.job().await;
    b.claim(1).await;
    let list = get(&b, "/admin/workers").await;
    assert_eq!(list["summary"], json!({"total": 2, "running": 1, "quiet": 1, "terminating": 0, "stale": 0, "left": 0}));
    let worker = &list["items"][1];
    assert_eq!(
        (&worker["id"], &worker["hostname"], &worker["pid"], &worker["concurrency"]),
        (&json!("w"), &json!("h"), &json!(7), &json!(10))
    );
    assert_eq!((&worker["queues"], &worker["version"], &worker["metadata"]["zone"]), (&json!(["q"]), &json!("1.2"), &json!("a")));
    assert_eq!(
        (&worker["active_jobs"], worker["started_at"].is_string(), worker["last_heartbeat_at"].is_string()),
        (&json!(1), true, true)
    );
    assert_eq!(get(&b, "/admin/workers?state=quiet").await["items"][0]["id"], "v");
    assert_eq!(post(&b, "/admin/workers/w/quiet", json!({})).await.0, 200);
    assert_eq!(get(&b, "/admin/workers/w").await["directive"], "quiet");
    assert_eq!(call(&b, Method::DELETE, "/admin/workers/w", &Value::Null).await.0, 409);
    b.advance(seconds(20)).await;
    assert_eq!(get(&b, "/admin/workers").await["summary"]["stale"], 2);
    let (status, body) = call(&b, Method::DELETE, "/admin/workers/w", &Value::Null).await;
    assert_eq!((status, &body["jobs_requeued"]), (200, &json!(1)));
    assert_eq!(call(&b, Method::GET, "/admin/workers/w", &Value::Null).await.0, 404);
}

async fn a_draining_worker_is_not_healthy(b: Bench) {
    assert_eq!(call(&b, Method::GET, "/workers/w/health", &Value::Null).await.0, 404);
    for (state, status, told) in [
        ("running", 200, "running"),
        ("quiet", 503, "quiet"),
        ("drain", 503, "draining"),
        ("terminate", 503, "draining"),
        ("running", 200, "running"),
        ("shutting_down", 503, "draining"),
        ("stopping", 503, "draining"),
    ] {
        assert_eq!(
            post(&b, "/workers/beat", json!({"worker_id": "w", "state": state, "active_jobs": 2})).await.1["acknowledged"],
            true
        );
        let (answered, body) = call(&b, Method::GET, "/workers/w/health", &Value::Null).await;
        let verdict = if status == 200 { "ok" } else { "degraded" };
        // The route needs no key: neither the worker's jobs nor its heartbeats are told.
        assert_eq!((answered, body), (status, json!({"worker_id": "w", "state": told, "status": verdict})), "{state}");
    }
    post(&b, "/workers/beat", json!({"worker_id": "w", "active_jobs": 0, "shutdown": true})).await;
    assert_eq!(call(&b, Method::GET, "/workers/w/health", &Value::Null).await.0, 503);
}

async fn an_operators_word_holds_before_the_worker_has_heard_it(b: Bench) {
    let beat = async |state: &str| {
        post(&b, "/workers/heartbeat", json!({"worker_id": "w", "state": state, "active_jobs": 0})).await.1["directive"].clone()
    };
    let fetched = async || {
        let fetch = json!({"queues": ["q"], "worker_id": "w"});
        post(&b, "/workers/fetch", fetch).await.1["jobs"].as_array().unwrap().len()
    };
    assert_eq!(post(&b, "/admin/workers/nobody/quiet", json!({})).await.0, 404);
    assert_eq!(
        call(&b, Method::DELETE, "/admin/workers/nobody", &Value::Null).await.0,
        404,
        "the question has made no worker up"
    );
    beat("running").await;
    b.job().await;
    assert_eq!(post(&b, "/admin/workers/w/quiet", json!({})).await.0, 200);
    assert_eq!(fetched().await, 0);
    assert_eq!(beat("running").await, "quiet");
    assert_eq!(fetched().await, 0, "a worker that does not listen");
    assert_eq!(post(&b, "/admin/workers/w/resume", json!({})).await.0, 200);
    assert_eq!(fetched().await, 1);
    b.job().await;
    assert_eq!(post(&b, "/admin/workers/w/terminate", json!({})).await.0, 200);
    assert_eq!(beat("quiet").await, "terminate");
    beat("terminate").await;
    assert_eq!(beat("running").await, "running", "a new process under the old name");
    assert_eq!(fetched().await, 1);
}

async fn dead_letters_are_paged_and_deleted(b: Bench) {
    let id = b
        .enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","retry":{"max_attempts":1,"on_exhaustion":"dead_letter"}}}"#)
        .await;
    let job = b.claim(1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    let list = get(&b, "/admin/dead-letter?queue=q").await;
    assert_eq!(
        (&list["items"][0]["id"], &list["pagination"]["total"], &list["pagination"]["page"]),
        (&json!(id.to_string()), &json!(1), &json!(1))
    );
    assert_eq!(get(&b, &format!("/admin/dead-letter/{id}")).await["job"]["errors"].as_array().unwrap().len(), 1);
    assert_eq!(call(&b, Method::DELETE, &format!("/admin/dead-letter/{id}"), &Value::Null).await, (204, Value::Null));
    assert_eq!(call(&b, Method::DELETE, &format!("/admin/dead-letter/{id}"), &Value::Null).await.0, 404);
}

async fn maintenance_is_told(b: Bench) {
    assert_eq!(get(&b, "/admin/system/maintenance").await["maintenance"], false);
    let order = json!({"enabled": true, "reason": "disk", "estimated_duration": "PT30M"});
    let (status, body) = post(&b, "/admin/system/maintenance", order).await;
    assert_eq!((status, &body["maintenance"], &body["reason"]), (200, &json!(true), &json!("disk")));
    assert!(body["enabled_at"].is_string() && body["estimated_end"].is_string());
    assert_eq!(post(&b, "/jobs", json!({"type": "t", "args": []})).await.0, 201);
    assert_eq!(post(&b, "/workers/fetch", json!({"queues": ["default"]})).await.1["jobs"], json!([]));
    assert_eq!(post(&b, "/admin/system/maintenance", json!({"enabled": false})).await.1["maintenance"], false);
    assert_eq!(post(&b, "/workers/fetch", json!({"queues": ["default"]})).await.1["jobs"].as_array().unwrap().len(), 1);
    assert_eq!(get(&b, "/admin/system/config").await["worker"]["timeout_seconds"], 30);
}
