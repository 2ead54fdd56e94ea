//! One test per row of the table of what published SDKs send (`row_05…` is its fifth row): the request with the headers and the
//! body of the SDK, against the real server, and what the SDK reads in the answer.
use ojs_tests::Answer;
use serde_json::{Value, json};

use super::target::Target;

/// Sends a request as a given HTTP client words it.
async fn send(target: &mut Target, agent: &str, media: &str, method: &str, path: &str, body: &Value) -> Answer {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: jobs.internal:8080\r\nUser-Agent: {agent}\r\nAccept: {media}\r\nAccept-Encoding: gzip\r\n\
         OJS-Version: 1.0\r\nContent-Type: {media}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    target.wire.send(head).await.unwrap();
    target.wire.answer().await.unwrap()
}

const OJS: &str = "application/openjobspec+json";
const GO: &str = "Go-http-client/1.1";

async fn go(target: &mut Target, path: &str, body: Value) -> Answer {
    send(target, GO, OJS, "POST", &format!("/ojs/v1{path}"), &body).await
}

/// A job that a worker holds.
async fn held(target: &mut Target) -> String {
    target.enqueue().await;
    target.fetch().await["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn row_01_and_02_heartbeats_with_a_list_or_a_count() {
    let mut target = Target::new().await;
    let id = held(&mut target).await;
    let bodies = [
        // Python, JS, Ruby, Rust: ids, and nothing about the process.
        json!({"worker_id": "w", "state": "running", "active_jobs": [id]}),
        // Go, Java: a count, ids beside it.
        json!({"worker_id": "w", "state": "running", "active_jobs": 1, "active_job_ids": [id]}),
        json!({"worker_id": "w", "active_jobs": [id], "visibility_timeout_ms": 30000}),
    ];
    for body in bodies {
        let answer = go(&mut target, "/workers/heartbeat", body.clone()).await.expect(200).json();
        assert_eq!(answer["jobs_extended"], json!([id]), "{body}");
        assert_eq!((&answer["state"], &answer["directive"]), (&json!("running"), &json!("running")), "{body}");
    }
    // Nothing held, nothing said of it.
    for body in
        [json!({"worker_id": "w", "active_jobs": []}), json!({"worker_id": "w", "active_jobs": 0}), json!({"worker_id": "w"})]
    {
        assert_eq!(go(&mut target, "/workers/heartbeat", body).await.expect(200).json()["state"], "running");
    }
    // An operator's word reaches the worker under both names.
    target.wire.post("/admin/workers/w/quiet", &json!({})).await.expect(200);
    let answer = go(&mut target, "/workers/heartbeat", json!({"worker_id": "w", "active_jobs": [id]})).await.expect(200).json();
    assert_eq!((&answer["state"], &answer["directive"]), (&json!("quiet"), &json!("quiet")));
}

#[tokio::test]
async fn row_03_fetch_with_batch_size() {
    let mut target = Target::new().await;
    for body in [
        json!({"queues": ["default"], "batch_size": 2}),
        json!({"queues": ["critical", "default"], "count": 2, "worker_id": "w"}),
        json!({"queues": ["default"], "count": 2, "worker_id": "w", "visibility_timeout_ms": 30000}),
    ] {
        for _ in 0..2 {
            target.enqueue().await;
        }
        let answer = go(&mut target, "/workers/fetch", body.clone()).await.expect(200).json();
        assert_eq!(answer["jobs"].as_array().unwrap().len(), 2, "{body}");
    }
    let empty = go(&mut target, "/workers/fetch", json!({"queues": ["default"]})).await.expect(200).json();
    assert_eq!(empty["jobs"], json!([]));
}

#[tokio::test]
async fn row_04_options_at_the_top() {
    let mut target = Target::new().await;
    // Ruby.
    let flat = json!({"type": "email.send", "args": [{"to": "x"}], "queue": "mail", "priority": 5, "timeout": 30,
        "retry": {"max_attempts": 7}, "meta": {"a": 1}, "scheduled_at": "2199-01-01T00:00:00Z"});
    let job = go(&mut target, "/jobs", flat).await.expect(201).job();
    assert_eq!((&job["queue"], &job["priority"], &job["max_attempts"]), (&json!("mail"), &json!(5), &json!(7)));
    assert_eq!((&job["state"], &job["timeout_ms"]), (&json!("scheduled"), &json!(30_000)));
    let both = json!({"type": "email.send", "args": [], "queue": "top", "options": {"queue": "nested"}});
    assert_eq!(go(&mut target, "/jobs", both).await.expect(201).job()["queue"], "nested");
}

#[tokio::test]
async fn row_05_retry_in_milliseconds_and_zero_attempts() {
    let mut target = Target::new().await;
    // Go: milliseconds; what the program left out is left out.
    let retry = json!({"initial_interval_ms": 2000, "max_interval_ms": 60000, "backoff_coefficient": 3});
    let body = json!({"type": "t", "args": [], "options": {"retry": retry}});
    let job = go(&mut target, "/jobs", body).await.expect(201).job();
    assert_eq!((&job["max_attempts"], &job["retry"]["initial_interval"]), (&json!(3), &json!("PT2S")));
    // Zero is what the specification says it is: one run, no retry (decision record 30), and the answer shows it.
    let body = json!({"type": "t", "args": [], "options": {"queue": "once", "retry": {"max_attempts": 0}}});
    let job = go(&mut target, "/jobs", body).await.expect(201).job();
    assert_eq!(job["max_attempts"], 0);
    go(&mut target, "/workers/fetch", json!({"queues": ["once"]})).await.expect(200);
    let nack = json!({"job_id": job["id"], "error": {"code": "handler_error", "message": "no", "retryable": true}});
    assert_eq!(go(&mut target, "/workers/nack", nack).await.expect(200).json()["state"], "discarded");
}

#[tokio::test]
async fn row_06_unique_by_key_and_period_ms() {
    let mut target = Target::new().await;
    for (n, unique) in [
        json!({"key": ["type", "args"], "period": "PT1H", "on_conflict": "reject"}),
        json!({"key": ["type", "queue", "args"], "period_ms": 3_600_000, "on_conflict": "reject"}),
        json!({"keys": ["type", "args"], "args_keys": ["id"], "period": "PT1H", "on_conflict": "reject", "states": ["available"]}),
        json!({"key": ["id"], "periodMs": 1, "period_ms": 3_600_000, "onConflict": "reject"}),
    ]
    .into_iter()
    .enumerate()
    {
        let job = |id: usize| json!({"type": "test.unique", "args": [{"id": id}], "options": {"queue": format!("q{n}"), "unique": unique}});
        go(&mut target, "/jobs", job(n * 10)).await.expect(201);
        assert_eq!(go(&mut target, "/jobs", job(n * 10)).await.code(), "duplicate", "{unique}");
        go(&mut target, "/jobs", job(n * 10 + 1)).await.expect(201);
    }
}

#[tokio::test]
async fn row_07_time_outs_in_seconds_or_milliseconds() {
    let mut target = Target::new().await;
    for body in [
        json!({"type": "t", "args": [], "timeout": 30}),
        json!({"type": "t", "args": [], "options": {"timeout_ms": 30000}}),
        json!({"type": "t", "args": [], "timeout_ms": 30000}),
    ] {
        assert_eq!(go(&mut target, "/jobs", body.clone()).await.expect(201).job()["timeout_ms"], 30_000, "{body}");
    }
}

#[tokio::test]
async fn row_08_cron_entries_flat_or_by_template() {
    let mut target = Target::new().await;
    let flat = json!({"name": "flat", "cron": "0 9 * * *", "timezone": "Europe/Berlin", "type": "report.build", "args": [], "options": {"queue": "reports"}});
    let nested = json!({"name": "nested", "expression": "0 9 * * *", "timezone": "Europe/Berlin", "job_template": {"type": "report.build", "args": [], "options": {"queue": "reports"}}});
    for body in [flat, nested] {
        go(&mut target, "/cron", body).await.expect(201);
    }
    let list = target.wire.get("/cron").await.expect(200).json();
    for name in ["crons", "cron_jobs"] {
        let entries = list[name].as_array().unwrap();
        assert_eq!(entries.len(), 2, "{name}");
        for entry in entries {
            assert_eq!((&entry["expression"], &entry["timezone"]), (&json!("0 9 * * *"), &json!("Europe/Berlin")));
            assert_eq!(entry["job_template"]["options"]["queue"], "reports");
        }
    }
    target.wire.call("DELETE", "/cron/flat", "").await.unwrap().expect(200);
}

#[tokio::test]
async fn row_09_workflows_of_the_binding_and_of_their_own_document() {
    let mut target = Target::new().await;
    let dag = json!({"name": "etl", "steps": [
        {"id": "a", "type": "wf.one", "args": [1]}, {"id": "b", "type": "wf.two", "args": [2], "depends_on": ["a"]}], "options": {"queue": "flow"}});
    let group = json!({"type": "group", "name": "all", "jobs": [{"type": "wf.one", "args": []}, {"type": "wf.one", "args": []}]});
    let batch = json!({"type": "batch", "jobs": [{"type": "wf.one", "args": []}], "callbacks": {"on_complete": {"type": "wf.done", "args": []}}});
    for body in [dag, group, batch] {
        let workflow = go(&mut target, "/workflows", body.clone()).await.expect(201).json()["workflow"].clone();
        assert!(workflow["id"].is_string() && workflow["state"] == "running", "{body}: {workflow}");
    }
}

#[tokio::test]
async fn row_10_and_11_results_of_any_shape_and_the_first_attempt_is_one() {
    let mut target = Target::new().await;
    for result in [json!(5), json!([1, "a"]), json!({"a": null}), json!("text")] {
        target.enqueue().await;
        let job = target.fetch().await;
        assert_eq!(job["attempt"], 1);
        let id = job["id"].as_str().unwrap();
        let answer = go(&mut target, "/workers/ack", json!({"job_id": id, "result": result})).await.expect(200).json();
        assert_eq!((&answer["acknowledged"], &answer["job_id"]), (&json!(true), &json!(id)));
        assert_eq!(target.job(id).await["result"], result);
    }
}

#[tokio::test]
async fn row_12_a_path_with_the_prefix_twice_says_so() {
    let mut target = Target::new().await;
    let id = held(&mut target).await;
    let path = format!("/ojs/v1/ojs/v1/jobs/{id}/checkpoint");
    let answer = send(&mut target, "python-httpx/0.27", OJS, "PUT", &path, &json!({"state": {}})).await.expect(404).json();
    assert!(answer["error"]["hint"].as_str().unwrap().contains("one /ojs/v1"), "{answer}");
}

#[tokio::test]
async fn row_13_media_types() {
    let mut target = Target::new().await;
    for media in [OJS, "application/json", "application/json; charset=utf-8", "application/openjobspec+json; charset=utf-8"] {
        let answer =
            send(&mut target, "node", media, "POST", "/ojs/v1/jobs", &json!({"type": "t", "args": []})).await.expect(201);
        assert_eq!(answer.header("content-type"), Some(OJS), "{media}");
        assert_eq!(answer.header("ojs-version"), Some("1.0"));
    }
}

#[tokio::test]
async fn row_14_queue_stats_as_an_object() {
    let mut target = Target::new().await;
    held(&mut target).await;
    let stats = target.wire.get("/queues/default/stats").await.expect(200).json();
    assert_eq!((&stats["queue"]["name"], &stats["queue"]["active"]), (&json!("default"), &json!(1)));
    assert_eq!(stats["stats"]["queue"], "default");
    assert!(stats["computed_at"].is_string());
}

#[tokio::test]
async fn row_15_other_names_work_and_dead_ends_name_the_right_route() {
    let mut target = Target::new().await;
    // The id in the path: adapters at the edge, and the extension suites.
    let id = held(&mut target).await;
    let answer = go(&mut target, &format!("/jobs/{id}/ack"), json!({"worker_id": "w", "result": 7})).await.expect(200).json();
    assert_eq!((&answer["job"]["state"], &answer["job"]["result"]), (&json!("completed"), &json!(7)));
    let id = held(&mut target).await;
    let body = json!({"error": {"code": "handler_error", "message": "no"}});
    assert_eq!(go(&mut target, &format!("/jobs/{id}/nack"), body).await.expect(200).json()["state"], "retryable");
    let id = target.enqueue().await["id"].as_str().unwrap().to_owned();
    assert_eq!(go(&mut target, &format!("/jobs/{id}/cancel"), Value::Null).await.expect(200).job()["state"], "cancelled");
    target.enqueue().await;
    assert_eq!(go(&mut target, "/jobs/fetch", json!({"queues": ["default"]})).await.expect(200).json()["jobs"][0]["attempt"], 1);
    go(&mut target, "/jobs/odd/ack", json!({})).await.expect(404);
    for (path, hint) in
        [("/api/v1/jobs", "/ojs/v1/jobs"), ("/v1/agents/a/fetch", "/ojs/v1/workers/fetch"), ("/v1/agents", "/ojs/manifest")]
    {
        let answer = send(&mut target, GO, OJS, "POST", path, &json!({})).await.expect(404);
        assert_eq!(answer.code(), "not_found");
        assert!(answer.json()["error"]["hint"].as_str().unwrap().contains(hint), "{path}");
    }
}
