//! `openjobspec/ojs-js-sdk`: `@openjobspec/sdk` 0.1.0 (package.json at 01285b5b, src/ at 1d32fd9d and fadd5f15) and the
//! newest `src/client.ts` (826007e3). Calls and expectations are those of its own
//! `tests/integration/with-redis-backend.test.ts`, and more.
use serde_json::{Value, json};

use super::{OJS, Sdk, assert_is_id, text};

/// src/transport/http.ts 29-36; `fetch` of Node.js names itself `node`.
const HEADERS: &[(&str, &str)] = &[
    ("Content-Type", OJS),
    ("Accept", OJS),
    ("OJS-Version", "1.0.0-rc.1"),
    ("accept-language", "*"),
    ("sec-fetch-mode", "cors"),
    ("User-Agent", "node"),
    ("accept-encoding", "gzip, deflate"),
];

/// src/client.ts: `enqueue`, whose answer is `response.body.job`.
async fn enqueue(sdk: &mut Sdk, job_type: &str, options: Value) -> Value {
    let body = json!({"type": job_type, "args": [{"timestamp": 1}], "options": options});
    sdk.send("POST", "/jobs", Some(body)).await.expect(201).json()["job"].clone()
}

#[tokio::test]
async fn jobs_are_enqueued_read_and_cancelled() {
    let mut sdk = Sdk::new(HEADERS).await;
    let health = sdk.send("GET", "/health", None).await.expect(200).json();
    assert_eq!(text(&health, "status"), "ok");
    text(&health, "version");
    let job = enqueue(&mut sdk, "integration.test", json!({"queue": "integration-test"})).await;
    assert_eq!((text(&job, "type"), text(&job, "state")), ("integration.test", "available"));
    let id = text(&job, "id").to_owned();
    assert_is_id(&id);
    let read = sdk.send("GET", &format!("/jobs/{id}"), None).await.expect(200).json();
    assert_eq!((text(&read["job"], "id"), text(&read["job"], "type")), (&*id, "integration.test"));
    let cancelled = sdk.send("DELETE", &format!("/jobs/{id}"), None).await.expect(200).json();
    assert_eq!(text(&cancelled["job"], "state"), "cancelled");
    // enqueueBatch: `response.body.jobs`, as many as were sent.
    let jobs: Vec<Value> = (0..3).map(|n| json!({"type": "integration.batch", "args": [{"index": n}]})).collect();
    let batch = sdk.send("POST", "/jobs/batch", Some(json!({"jobs": jobs}))).await.expect(201).json();
    assert!(batch["jobs"].as_array().unwrap().iter().all(|job| job["state"] == "available"));
    assert_eq!(batch["jobs"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_worker_fetches_acks_fails_and_beats() {
    let mut sdk = Sdk::new(HEADERS).await;
    for _ in 0..2 {
        enqueue(&mut sdk, "integration.echo", json!({"queue": "integration-test", "retry": {"max_attempts": 5}})).await;
    }
    // src/worker.ts fetchAndProcess
    let fetch =
        json!({"queues": ["default", "integration-test"], "count": 5, "worker_id": "worker_1", "visibility_timeout_ms": 30000});
    let jobs = sdk.send("POST", "/workers/fetch", Some(fetch)).await.expect(200).json()["jobs"].clone();
    let ids: Vec<&str> = jobs.as_array().unwrap().iter().map(|job| text(job, "id")).collect();
    assert_eq!((ids.len(), &jobs[0]["attempt"], &jobs[0]["args"]), (2, &json!(1), &json!([{"timestamp": 1}])));
    // sendHeartbeat
    let beat = json!({"worker_id": "worker_1", "state": "running", "active_jobs": 2, "active_job_ids": ids, "hostname": "unknown",
        "pid": 1, "queues": ["default"], "concurrency": 5, "labels": []});
    let answer = sdk.send("POST", "/workers/heartbeat", Some(beat)).await.expect(200).json();
    assert_eq!(text(&answer, "state"), "running");
    // src/progress.ts (a39b38f9) reportProgress
    let report = json!({"job_id": ids[0], "percentage": 50, "message": "half", "data": {"rows": 3}});
    sdk.send("POST", "/workers/progress", Some(report)).await.expect(200);
    let progress = sdk.send("GET", &format!("/jobs/{}/progress", ids[0]), None).await.expect(200).json();
    assert_eq!((&progress["progress"], text(&progress, "message"), &progress["data"]["rows"]), (&json!(0.5), "half", &json!(3)));
    sdk.send("POST", "/workers/ack", Some(json!({"job_id": ids[0], "result": {"echo": "hello"}}))).await.expect(200);
    let error = json!({"code": "handler_error", "message": "no", "retryable": true, "details": {"stack": "Error: no"}});
    sdk.send("POST", "/workers/nack", Some(json!({"job_id": ids[1], "error": error}))).await.expect(200);
    for (id, state) in [(ids[0], "completed"), (ids[1], "retryable")] {
        let read = sdk.send("GET", &format!("/jobs/{id}"), None).await.expect(200).json();
        assert_eq!(text(&read["job"], "state"), state);
    }
}

#[tokio::test]
async fn a_workflow_is_read_under_its_name_and_at_the_top() {
    let mut sdk = Sdk::new(HEADERS).await;
    // src/workflow.ts toWireWorkflow
    let step = |name: &str| json!({"type": name, "args": [{"step": 1}]});
    let workflows = [
        json!({"type": "chain", "steps": [step("integration.step_a"), step("integration.step_b")]}),
        json!({"type": "group", "jobs": [step("integration.step_a"), step("integration.step_b")]}),
        json!({"type": "batch", "jobs": [step("integration.step_a")], "callbacks": {"on_complete": step("integration.done")}}),
    ];
    for body in workflows {
        let answer = sdk.send("POST", "/workflows", Some(body.clone())).await.expect(201).json();
        // 0.1.0 takes the body itself for the status (client.ts `return response.body`), the newest what is under
        // `workflow`.
        for status in [&answer, &answer["workflow"]] {
            assert_is_id(text(status, "id"));
            assert_eq!(status["type"], body["type"]);
            assert_eq!((text(status, "state"), &status["metadata"]["completed_count"]), ("running", &json!(0)));
        }
        let path = format!("/workflows/{}", text(&answer, "id"));
        assert_eq!(sdk.send("GET", &path, None).await.expect(200).json()["id"], answer["id"]);
        sdk.send("DELETE", &path, None).await.expect(200);
        assert_eq!(sdk.send("GET", &path, None).await.expect(200).json()["state"], "cancelled");
    }
}

#[tokio::test]
async fn queues_cron_entries_and_dead_letters() {
    let mut sdk = Sdk::new(HEADERS).await;
    enqueue(&mut sdk, "integration.test", json!({"queue": "mail"})).await;
    // src/queue.ts: `queues`, each with name and paused; the statistics are the body itself.
    let queues = sdk.send("GET", "/queues", None).await.expect(200).json()["queues"].clone();
    assert!(queues.as_array().unwrap().iter().any(|queue| queue["name"] == "mail" && queue["paused"] == false));
    sdk.send("POST", "/queues/mail/pause", None).await.expect(200);
    let stats = sdk.send("GET", "/queues/mail/stats", None).await.expect(200).json();
    assert_eq!((text(&stats, "name"), &stats["available"], &stats["paused"]), ("mail", &json!(1), &json!(true)));
    for member in ["active", "scheduled", "retryable", "completed", "discarded"] {
        assert_eq!(stats[member], 0, "{member}");
    }
    sdk.send("POST", "/queues/mail/resume", None).await.expect(200);
    assert_eq!(sdk.send("GET", "/queues/mail/stats", None).await.expect(200).json()["paused"], false);
    // src/cron.ts
    let cron = json!({"name": "daily", "cron": "0 9 * * *", "type": "report.build", "args": [{}], "timezone": "UTC", "options": {"queue": "mail"}});
    let entry = sdk.send("POST", "/cron", Some(cron)).await.expect(201).json()["cron_job"].clone();
    assert_eq!((text(&entry, "cron"), text(&entry, "type"), text(&entry, "status")), ("0 9 * * *", "report.build", "active"));
    let list = sdk.send("GET", "/cron?page=1&per_page=20", None).await.expect(200).json();
    assert_eq!((list["cron_jobs"].as_array().unwrap().len(), &list["pagination"]["total"]), (1, &json!(1)));
    sdk.send("DELETE", "/cron/daily", None).await.expect(200);
    assert_eq!(sdk.send("GET", "/dead-letter", None).await.expect(200).json()["jobs"], json!([]));
    // errors.ts: `error.code`, `error.message`, `error.retryable`.
    let error = sdk.send("GET", "/jobs/019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", None).await.expect(404).json()["error"].clone();
    assert_eq!((text(&error, "code"), &error["retryable"]), ("not_found", &json!(false)));
}

#[tokio::test]
async fn schemas_are_registered_listed_read_and_deleted() {
    let mut sdk = Sdk::new(HEADERS).await;
    // src/schema.ts (f609f6d3); the URI stands in the path, encoded.
    let schema = json!({"type": "array"});
    let body = json!({"uri": "urn:ojs:schema:email.send:v1", "type": "email.send", "version": "1.0.0", "schema": schema});
    let registered = sdk.send("POST", "/schemas", Some(body)).await.expect(201).json()["schema"].clone();
    assert_eq!((text(&registered, "uri"), text(&registered, "version")), ("urn:ojs:schema:email.send:v1", "1.0.0"));
    let list = sdk.send("GET", "/schemas?page=1&per_page=20", None).await.expect(200).json();
    assert_eq!((text(&list["schemas"][0], "type"), &list["pagination"]["total"]), ("email.send", &json!(1)));
    let path = "/schemas/urn%3Aojs%3Aschema%3Aemail.send%3Av1";
    assert_eq!(sdk.send("GET", path, None).await.expect(200).json()["schema"]["schema"], schema);
    sdk.send("DELETE", path, None).await.expect(200);
    sdk.send("GET", path, None).await.expect(404);
}
