//! Statements of the protocol page that no visible conformance case asks for.
use ojs_tests::ServerProcess;
use serde_json::{Value, json};

use super::target::Target;

/// A job of a type and a queue of its own, with a unique policy.
fn unique(policy: &Value, more: &Value) -> Value {
    let mut options = json!({"queue": "unique", "unique": policy});
    options.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"type": "test.unique", "args": [], "options": options})
}

#[tokio::test]
async fn a_job_that_takes_over_a_schedule_shows_it() {
    let mut target = Target::new().await;
    let policy = json!({"keys": ["type"], "on_conflict": "replace_except_schedule"});
    let time = "2099-01-01T00:00:00+02:00";
    let old = target.wire.post("/jobs", &unique(&policy, &json!({"delay_until": time}))).await.expect(201).job();
    let job =
        target.wire.post("/jobs", &unique(&policy, &json!({"scheduled_at": "+PT1H", "tags": ["new"]}))).await.expect(201).job();
    assert_eq!((&job["state"], &job["scheduled_at"], &job["tags"]), (&json!("scheduled"), &json!(time), &json!(["new"])));
    assert_eq!(target.job(job["id"].as_str().unwrap()).await, job);
    assert_eq!(target.job(old["id"].as_str().unwrap()).await["state"], "cancelled");
}

#[tokio::test]
async fn replacing_what_is_over_leaves_it_as_it_is() {
    let mut target = Target::new().await;
    let policy = json!({"keys": ["type"], "on_conflict": "replace", "states": ["available", "completed", "cancelled"]});
    let done = target.wire.post("/jobs", &unique(&policy, &json!({}))).await.expect(201).job();
    target.wire.post("/workers/fetch", &json!({"queues": ["unique"]})).await.expect(200);
    target.wire.post("/workers/ack", &json!({"job_id": done["id"]})).await.expect(200);
    let next = target.wire.post("/jobs", &unique(&policy, &json!({}))).await.expect(201).job();
    assert_ne!(next["id"], done["id"]);
    assert_eq!(target.job(done["id"].as_str().unwrap()).await["state"], "completed");
}

#[tokio::test]
async fn the_next_page_begins_where_its_cursor_says() {
    let mut target = Target::new().await;
    for n in 0..5 {
        let name = format!("page-{n}");
        target.wire.post("/jobs", &json!({"type": "a", "args": [], "options": {"queue": name}})).await.expect(201);
        let cron = json!({"name": name, "cron": "@yearly", "type": "a"});
        target.wire.post("/cron", &cron).await.expect(201);
    }
    for (path, list) in [("/queues", "queues"), ("/cron", "crons")] {
        let (mut names, mut next) = (Vec::new(), String::new());
        loop {
            let page = target.wire.get(&format!("{path}?limit=2{next}")).await.expect(200).json();
            names.extend(page[list].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()));
            let Some(cursor) = page["pagination"]["next_cursor"].as_str() else { break };
            next = format!("&cursor={cursor}");
        }
        names.retain(|name| name.starts_with("page-"));
        assert_eq!(names, ["page-0", "page-1", "page-2", "page-3", "page-4"], "{path}");
    }
    for path in ["/queues?cursor=x", "/cron?cursor=x", "/cron?enabled=maybe"] {
        super::target::check_refusal(&target.wire.get(path).await, 400, "invalid_request", path);
    }
}

#[tokio::test]
async fn a_member_of_the_wrong_type_is_named() {
    let mut target = Target::new().await;
    for (path, body, field) in [
        ("/workers/ack", json!({"job_id": 1}), "job_id"),
        ("/workers/fetch", json!({"queues": "default"}), "queues"),
        ("/workers/fetch", json!({"queues": ["a", 1]}), "queues[1]"),
        ("/workers/heartbeat", json!({"worker_id": "w", "visibility_timeout_ms": "1"}), "visibility_timeout_ms"),
        ("/cron", json!({"name": "a", "cron": "@daily", "type": "a", "timezone": 1}), "timezone"),
        ("/cron", json!({"name": "a", "cron": "@daily", "type": "a", "enabled": "yes"}), "enabled"),
    ] {
        let error = target.refuses(path, body.to_string(), 400, "invalid_payload").await;
        assert_eq!(error["details"]["field"], field, "{body}: {error}");
        assert!(error["message"].as_str().unwrap().contains(field), "{body}: {error}");
    }
}

#[tokio::test]
async fn cron_names_stand_in_their_own_fields() {
    let mut target = Target::new().await;
    for expression in ["1,,2 * * * *", "0, * * * *", "0 0 * MON *", "0 0 * * JAN", "MON 0 * * *"] {
        let body = json!({"name": "a", "expression": expression, "job_template": {"type": "a", "args": []}});
        let error = target.refuses("/cron", body.to_string(), 400, "invalid_payload").await;
        assert_eq!(error["details"]["field"], "expression", "{expression}");
    }
}

#[tokio::test]
async fn ei_r004_a_cron_entry_with_neither_policy_skips_and_rejects() {
    let mut target = Target::new().await;
    let mut register = async |more: Value| {
        let mut body = json!({"name": "a", "expression": "0 0 1 1 *", "job_template": {"type": "a", "args": []}});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert!(matches!(target.wire.post("/cron", &body).await.status, 200 | 201));
        target.wire.get("/cron/a").await.expect(200).json()["cron"].clone()
    };
    let both = json!({"keys": ["type", "args"], "on_conflict": "reject"});
    let entry = register(json!({})).await;
    assert_eq!((&entry["overlap_policy"], &entry["job_template"]["options"]["unique"]), (&json!("skip"), &both), "{entry}");
    let entry = register(json!({"job_template": {"type": "a", "args": [], "options": {"queue": "q", "unique": null}}})).await;
    assert_eq!(entry["job_template"]["options"], json!({"queue": "q", "unique": null}), "who says none gets none");
    let entry = register(json!({"job_template": {"type": "a", "args": [], "options": {"queue": "q"}}})).await;
    assert_eq!(entry["job_template"]["options"], json!({"queue": "q", "unique": both}));
    let entry = register(json!({"overlap_policy": "allow"})).await;
    assert_eq!((&entry["overlap_policy"], &entry["job_template"]["options"]), (&json!("allow"), &Value::Null), "{entry}");
}

#[tokio::test]
async fn steps_that_never_ran_have_not_failed() {
    let mut target = Target::new().await;
    let chain =
        json!({"type": "chain", "steps": [{"type": "a", "args": []}, {"type": "b", "args": []}, {"type": "c", "args": []}]});
    let id = target.wire.post("/workflows", &chain).await.expect(201).json()["workflow"]["id"].as_str().unwrap().to_owned();
    let job = target.fetch().await;
    let error = json!({"code": "handler_error", "message": "no", "retryable": false});
    target.wire.post("/workers/nack", &json!({"job_id": job["id"], "error": error})).await.expect(200);
    let workflow = target.wire.get(&format!("/workflows/{id}")).await.expect(200).json()["workflow"].clone();
    assert_eq!((&workflow["state"], &workflow["metadata"]["failed_count"]), (&json!("failed"), &json!(1)));
    assert_eq!(workflow["failed_job_ids"], json!([job["id"]]));
}

#[tokio::test]
async fn a_queue_tells_of_its_last_hour() {
    let mut target = Target::new().await;
    let quiet = target.wire.get("/queues/default/stats").await.expect(200).json()["stats"].clone();
    for field in ["completed_last_hour", "failed_last_hour", "avg_duration_ms", "avg_wait_ms", "throughput_per_second"] {
        assert_eq!(quiet[field].as_f64(), Some(0.0), "{field}: {quiet}");
    }
    for failed in [false, false, true] {
        target.enqueue().await;
        let id = target.fetch().await["id"].clone();
        let path = if failed { "/workers/nack" } else { "/workers/ack" };
        let body = json!({"job_id": id, "error": {"code": "handler_error", "message": "no"}});
        target.wire.post(path, &body).await.expect(200);
    }
    target.wire.post("/jobs", &json!({"type": "a", "args": [], "options": {"queue": "other"}})).await.expect(201);
    let stats = target.wire.get("/queues/default/stats").await.expect(200).json()["stats"].clone();
    assert_eq!((&stats["completed_last_hour"], &stats["failed_last_hour"]), (&json!(2), &json!(1)), "{stats}");
    assert!(stats["throughput_per_second"].as_f64().unwrap() > 0.0, "{stats}");
    let other = target.wire.get("/queues/other/stats").await.expect(200).json()["stats"].clone();
    assert_eq!(other["completed_last_hour"], 0, "{other}");
}

#[tokio::test]
async fn a_directive_reaches_a_worker_that_only_counts_its_jobs() {
    let server = ServerProcess::start("memory", &["--test-mode"]).await;
    let mut wire = server.connect().await;
    for directive in ["quiet", "terminate"] {
        let job = json!({"type": "a", "args": [], "options": {"metadata": {"test_directive": directive}}});
        wire.post("/jobs", &job).await.expect(201);
        let held = wire.post("/workers/fetch", &json!({"queues": ["default"], "worker_id": directive})).await.expect(200);
        for body in [
            json!({"worker_id": directive, "active_jobs": 1}),
            json!({"worker_id": directive}),
            json!({"worker_id": directive, "active_jobs": [held.job()["id"]]}),
        ] {
            let answer = wire.post("/workers/heartbeat", &body).await.expect(200).json();
            assert_eq!((&answer["state"], &answer["directive"]), (&json!(directive), &json!(directive)), "{body}");
        }
        let other = wire.post("/workers/heartbeat", &json!({"worker_id": "other"})).await.expect(200).json();
        assert_eq!(other["state"], "running");
    }
}

#[tokio::test]
async fn the_default_queue_is_there_before_its_first_job() {
    let mut target = Target::new().await;
    let first = target.wire.get("/queues").await.expect(200).json();
    let queue = &first["queues"][0];
    assert_eq!((&queue["name"], &queue["status"]), (&json!("default"), &json!("active")));
    assert!(queue["created_at"].as_str().is_some_and(|time| time.ends_with('Z')), "{queue}");
    assert_eq!(target.wire.get("/queues").await.expect(200).json(), first, "a time that stands still");
}
