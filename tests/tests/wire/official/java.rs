//! `openjobspec/ojs-java-sdk`: `ojs-sdk` 0.3.0 (OJSClient.java at 2de67f0c, HttpTransport.java at abf51560,
//! OJSWorker.java at 5fe68122, JobRequest.java at 0279bb5a, Workflow.java at 3b1325fa). Calls and expectations are
//! those of its own `integration/RedisBackendIT.java`, and more.
use serde_json::{Value, json};

use super::{OJS, Sdk, assert_is_id, text};

/// HttpTransport.java 78-82, and what java.net.http adds.
const HEADERS: &[(&str, &str)] =
    &[("User-Agent", "Java-http-client/21.0.9"), ("Content-Type", OJS), ("Accept", OJS), ("OJS-Version", "1.0.0-rc.1")];

/// OJSClient.java parseJob: what is under `job`, or else the body.
fn job(body: &Value) -> &Value {
    body.get("job").unwrap_or(body)
}

#[tokio::test]
async fn its_own_integration_tests_find_what_they_expect() {
    let mut sdk = Sdk::new(HEADERS).await;
    assert_eq!(sdk.send("GET", "/health", None).await.expect(200).json()["status"], "ok");
    // JobRequest.java buildRequest
    let body = json!({"type": "integration.test", "args": [{"key": "value"}], "options": {"queue": "default"}});
    let created = sdk.send("POST", "/jobs", Some(body)).await.expect(201).json();
    let id = text(job(&created), "id").to_owned();
    assert_is_id(&id);
    assert_eq!((text(job(&created), "type"), text(job(&created), "queue")), ("integration.test", "default"));
    assert_eq!(text(job(&sdk.send("GET", &format!("/jobs/{id}"), None).await.expect(200).json()), "id"), id);
    let retry = json!({"max_attempts": 5, "initial_interval_ms": 1000, "backoff_coefficient": 2.0, "max_interval_ms": 300_000, "jitter": true});
    let unique = json!({"key": ["id"], "period_ms": 3_600_000, "on_conflict": "reject"});
    let options = json!({"queue": "test-queue", "priority": 5, "delay_until": "2199-01-01T00:00:00.123456Z", "retry": retry, "unique": unique});
    let body = json!({"type": "integration.scheduled", "args": [{"id": 42}], "options": options});
    let scheduled = sdk.send("POST", "/jobs", Some(body)).await.expect(201).json();
    assert_eq!((text(job(&scheduled), "queue"), text(job(&scheduled), "state")), ("test-queue", "scheduled"));
    // parseRetryPolicy reads the interval in milliseconds, and takes a second when there is none.
    assert_eq!(job(&scheduled)["retry"]["max_attempts"], 5);
    assert_eq!(text(job(&sdk.send("DELETE", &format!("/jobs/{id}"), None).await.expect(200).json()), "state"), "cancelled");
    assert!(!sdk.send("GET", "/queues", None).await.expect(200).json()["queues"].as_array().unwrap().is_empty());
    // Workflow.java Definition.toWire: a name, ids, no type.
    let step =
        |id: &str, after: Value| json!({"id": id, "type": "integration.step1", "args": [{"order": 1}], "depends_on": after});
    let chain = json!({"name": "integration-chain", "steps": [step("step_0", json!([])), step("step_1", json!(["step_0"]))]});
    let group = json!({"name": "integration-group", "steps": [{"id": "step_0", "type": "integration.parallel1", "args": [{}]}]});
    for body in [chain, group] {
        let created = sdk.send("POST", "/workflows", Some(body)).await.expect(201).json()["workflow"].clone();
        assert_eq!((text(&created, "state"), text(&created["steps"][0], "id")), ("running", "step_0"));
        let path = format!("/workflows/{}", text(&created, "id"));
        assert_eq!(sdk.send("GET", &path, None).await.expect(200).json()["workflow"]["id"], created["id"]);
        sdk.send("DELETE", &path, None).await.expect(200);
    }
}

#[tokio::test]
async fn a_worker_and_the_other_calls() {
    let mut sdk = Sdk::new(HEADERS).await;
    for _ in 0..2 {
        let body = json!({"type": "integration.worker_test", "args": [{"message": "hello"}], "options": {"queue": "default"}});
        sdk.send("POST", "/jobs", Some(body)).await.expect(201);
    }
    // OJSWorker.java fetchJobs, sendHeartbeat, sendJobHeartbeat, ackJob, nackJob
    let mut ids = Vec::new();
    for _ in 0..2 {
        let fetch = json!({"worker_id": "worker_01234567-89a", "queues": ["default"], "count": 1});
        let fetched = sdk.send("POST", "/workers/fetch", Some(fetch)).await.expect(200).json();
        ids.push(text(&fetched["jobs"][0], "id").to_owned());
    }
    let beats = [
        json!({"worker_id": "worker_01234567-89a", "state": "running", "active_jobs": 2, "active_job_ids": ids, "queues": ["default"], "concurrency": 10}),
        json!({"worker_id": "worker_01234567-89a", "job_id": ids[0]}),
    ];
    for beat in beats {
        assert_eq!(sdk.send("POST", "/workers/heartbeat", Some(beat)).await.expect(200).json()["state"], "running");
    }
    sdk.send("POST", "/workers/ack", Some(json!({"job_id": ids[0], "result": {"processed": true}}))).await.expect(200);
    let error = json!({"type": "IllegalStateException", "message": "no"});
    sdk.send("POST", "/workers/nack", Some(json!({"job_id": ids[1], "error": error}))).await.expect(200);
    assert_eq!(text(job(&sdk.send("GET", &format!("/jobs/{}", ids[0]), None).await.expect(200).json()), "state"), "completed");
    let failed = sdk.send("GET", &format!("/jobs/{}", ids[1]), None).await.expect(200).json();
    // parseJobError: `type`, `message`.
    assert_eq!((text(&job(&failed)["error"], "type"), text(&job(&failed)["error"], "message")), ("IllegalStateException", "no"));
    sdk.send("POST", "/queues/default/pause", Some(json!({}))).await.expect(200);
    assert_eq!(sdk.send("GET", "/queues/default/stats", None).await.expect(200).json()["stats"]["retryable"], 1);
    let cron = json!({"name": "daily", "cron": "0 9 * * *", "type": "report.build", "args": [{}]});
    sdk.send("POST", "/cron", Some(cron)).await.expect(201);
    assert_eq!(sdk.send("GET", "/cron", None).await.expect(200).json()["cron_jobs"].as_array().unwrap().len(), 1);
    sdk.send("DELETE", "/cron/daily", None).await.expect(200);
    assert_eq!(sdk.send("GET", "/cron", None).await.expect(200).json()["cron_jobs"], json!([]));
    assert_eq!(sdk.send("GET", "/dead-letter?limit=10&offset=0", None).await.expect(200).json()["jobs"], json!([]));
    // OJSClient.java manifest: the path is sent as it is, with its dots.
    assert_eq!(sdk.raw("GET", "/ojs/v1/../manifest", None).await.expect(200).json()["conformance_level"], 4);
}
