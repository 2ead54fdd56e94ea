//! `openjobspec/ojs-rust-sdk`: `ojs` 0.2.0 (src/client.rs at 16a58314, src/job.rs at 241f27cf, src/workflow.rs at
//! 226c39d6, src/queue.rs at 2e537f1f, src/transport/http.rs at 0a976707). Its answers have types, as the structs below
//! have. It reads a job, a workflow and a cron entry at the top of the answer (client.rs `get_job`, `create_workflow`,
//! `register_cron_job`); newer ones read them under their names (src/workflow/response.rs 46-49).
use std::collections::HashMap;

use ojs_tests::Answer;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{OJS, Sdk, assert_is_id};

/// src/transport/http.rs 67-81. reqwest sends no `User-Agent` of its own.
const HEADERS: &[(&str, &str)] =
    &[("content-type", OJS), ("accept", OJS), ("ojs-version", "1.0"), ("x-request-id", "0f8fad5b-d9cb-469f-a165-70867728950e")];

/// src/job.rs 232-335: `id` and `type` are a must, numbers have their widths.
#[derive(Deserialize)]
struct Job {
    id: String,
    #[serde(rename = "type")]
    job_type: String,
    #[serde(default)]
    queue: String,
    #[serde(default)]
    priority: i32,
    #[serde(default)]
    timeout: Option<u64>,
    #[serde(default)]
    state: Option<String>,
    #[serde(default)]
    attempt: u32,
    #[serde(default)]
    retry: Option<Retry>,
    #[serde(default)]
    unique: Option<Unique>,
    #[serde(default)]
    error: Option<JobError>,
    #[serde(default)]
    result: Option<Value>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    timeout_ms: Option<u64>,
}

/// src/retry.rs: intervals are texts.
#[derive(Deserialize)]
struct Retry {
    #[serde(default)]
    max_attempts: u32,
    #[serde(default)]
    initial_interval: Option<String>,
}

/// src/job.rs 63-89: dimensions are four words.
#[derive(Deserialize)]
struct Unique {
    #[serde(default)]
    keys: Vec<Dimension>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Dimension {
    Type,
    Queue,
    Args,
    Meta,
}

/// src/errors.rs 205-213: `type` is a must.
#[derive(Deserialize)]
struct JobError {
    #[serde(rename = "type")]
    error_type: String,
    message: String,
}

#[derive(Deserialize)]
struct Jobs {
    jobs: Vec<Job>,
}

/// src/workflow.rs 356-379 and, under `workflow`, src/workflow/response.rs 52-110.
#[derive(Deserialize)]
struct Workflow {
    id: String,
    state: String,
    #[serde(default)]
    steps: Vec<Step>,
    #[serde(default)]
    steps_cancelled: Option<u32>,
}

#[derive(Deserialize)]
struct Step {
    id: String,
    #[serde(rename = "type")]
    job_type: String,
    state: String,
    #[serde(default)]
    job_id: Option<String>,
}

/// src/queue.rs 20-30.
#[derive(Deserialize)]
struct Stats {
    queue: String,
    status: String,
    stats: HashMap<String, Value>,
    computed_at: String,
}

/// src/queue.rs 92-131: `name`, `cron` and `type` are a must.
#[derive(Deserialize)]
struct CronJob {
    name: String,
    cron: String,
    timezone: String,
    #[serde(rename = "type")]
    job_type: String,
    enabled: bool,
    run_count: Option<u64>,
}

/// src/queue.rs 182-199.
#[derive(Deserialize)]
struct Manifest {
    conformance_level: u8,
    conformance_tier: Option<String>,
    capabilities: HashMap<String, bool>,
    extensions: Option<Vec<String>>,
    endpoints: HashMap<String, String>,
}

#[track_caller]
fn read<T: DeserializeOwned>(answer: &Answer) -> T {
    let body = String::from_utf8_lossy(&answer.body);
    assert!((200..300).contains(&answer.status), "{}: {body}", answer.status);
    serde_json::from_slice(&answer.body).unwrap_or_else(|error| panic!("failed to parse response: {error} (body: {body})"))
}

#[tokio::test]
async fn jobs_and_a_worker() {
    let mut sdk = Sdk::new(HEADERS).await;
    // src/job.rs EnqueueRequest
    let retry = json!({"max_attempts": 1, "initial_interval": "PT1S", "backoff_coefficient": 2.0, "max_interval": "PT5M", "jitter": true,
        "non_retryable_errors": [], "on_exhaustion": "dead_letter"});
    let unique = json!({"keys": ["type", "args"], "states": ["available", "active"], "on_conflict": "reject", "period": "PT1H"});
    let options = json!({"queue": "mail", "priority": 3, "timeout_ms": 1500, "retry": retry, "unique": unique, "tags": ["a"]});
    let request = json!({"type": "email.send", "args": [{"to": "a"}], "meta": {"a": 1}, "options": options});
    #[derive(Deserialize)]
    struct Enqueued {
        job: Job,
    }
    let created: Enqueued = read(&sdk.send("POST", "/jobs", Some(request)).await);
    assert_is_id(&created.job.id);
    let job: Job = read(&sdk.send("GET", &format!("/jobs/{}", created.job.id), None).await);
    assert_eq!(
        (job.job_type.as_str(), job.queue.as_str(), job.priority, job.tags),
        ("email.send", "mail", 3, vec!["a".to_owned()])
    );
    assert_eq!((job.timeout_ms, job.timeout), (Some(1500), Some(2)), "whole seconds: the SDK reads no others");
    let retry = job.retry.unwrap();
    assert_eq!((retry.max_attempts, retry.initial_interval.as_deref()), (1, Some("PT1S")));
    assert_eq!(job.unique.unwrap().keys, [Dimension::Type, Dimension::Args]);
    let batch = json!({"jobs": [{"type": "email.send", "args": []}, {"type": "email.send", "args": []}]});
    let batch: Jobs = read(&sdk.send("POST", "/jobs/batch", Some(batch)).await);
    let cancelled: Job = read(&sdk.send("DELETE", &format!("/jobs/{}", batch.jobs[0].id), None).await);
    assert_eq!(cancelled.state.as_deref(), Some("cancelled"));
    // src/worker.rs fetch, heartbeat; src/worker/protocol.rs ack_job, nack_job
    let fetch = json!({"queues": ["mail", "default"], "count": 10, "worker_id": "worker-1", "visibility_timeout_ms": 30000});
    let fetched: Jobs = read(&sdk.send("POST", "/workers/fetch", Some(fetch)).await);
    let [first, second] = fetched.jobs.as_slice() else { panic!("two jobs are waiting") };
    assert_eq!((first.attempt, first.id.as_str()), (1, created.job.id.as_str()));
    let beat = json!({"worker_id": "worker-1", "active_jobs": [first.id, second.id], "visibility_timeout_ms": 30000});
    let answer = sdk.send("POST", "/workers/heartbeat", Some(beat)).await.expect(200).json();
    assert_eq!((&answer["state"], answer["jobs_extended"].as_array().unwrap().len()), (&json!("running"), 2));
    let error = json!({"code": "handler_error", "message": "no", "retryable": false});
    sdk.send("POST", "/workers/nack", Some(json!({"job_id": first.id, "error": error}))).await.expect(200);
    sdk.send("POST", "/workers/ack", Some(json!({"job_id": second.id, "result": 5}))).await.expect(200);
    let failed: Job = read(&sdk.send("GET", &format!("/jobs/{}", first.id), None).await);
    let error = failed.error.unwrap();
    assert_eq!((error.error_type.as_str(), error.message.as_str()), ("handler_error", "no"));
    let done: Job = read(&sdk.send("GET", &format!("/jobs/{}", second.id), None).await);
    assert_eq!((done.state.as_deref(), done.result), (Some("completed"), Some(json!(5))));
    let dead: Jobs = read(&sdk.send("GET", "/dead-letter?queue=mail&limit=10&offset=0", None).await);
    assert_eq!(dead.jobs[0].id, first.id);
    let again: Job = read(&sdk.send("POST", &format!("/dead-letter/{}/retry", first.id), None).await);
    assert_eq!(again.state.as_deref(), Some("available"));
}

#[tokio::test]
async fn workflows_are_read_at_the_top_and_under_their_name() {
    let mut sdk = Sdk::new(HEADERS).await;
    // 0.2.0 (src/workflow.rs 209-285) and newer ones (src/workflow/wire.rs 25-58)
    let old = json!({"name": "etl", "steps": [
        {"id": "step-0", "type": "wf.one", "args": [{}]}, {"id": "step-1", "type": "wf.two", "args": [{}], "depends_on": ["step-0"]}]});
    let new = json!({"type": "chain", "steps": [{"type": "wf.one", "args": [{}]}, {"type": "wf.two", "args": [{}]}]});
    for (body, ids) in [(old, ["step-0", "step-1"]), (new, ["0", "1"])] {
        let answer = sdk.send("POST", "/workflows", Some(body)).await;
        let top: Workflow = read(&answer);
        let wrapped: Workflow = serde_json::from_value(answer.json()["workflow"].clone()).unwrap();
        for workflow in [&top, &wrapped] {
            assert_eq!(workflow.steps.iter().map(|step| step.id.as_str()).collect::<Vec<_>>(), ids);
            assert_eq!((workflow.state.as_str(), workflow.steps[1].state.as_str()), ("running", "waiting"));
            assert!(workflow.steps[0].job_id.is_some() && workflow.steps[0].job_type == "wf.one");
        }
        let path = format!("/workflows/{}", top.id);
        let read_back: Workflow = read(&sdk.send("GET", &path, None).await);
        assert_eq!(read_back.id, top.id);
        let cancelled: Workflow = read(&sdk.send("DELETE", &path, None).await);
        assert_eq!((cancelled.state.as_str(), cancelled.steps_cancelled), ("cancelled", Some(2)));
    }
}

#[tokio::test]
async fn statistics_cron_entries_and_the_manifest() {
    let mut sdk = Sdk::new(HEADERS).await;
    sdk.send("POST", "/jobs", Some(json!({"type": "t.one", "args": []}))).await.expect(201);
    let stats: Stats = read(&sdk.send("GET", "/queues/default/stats", None).await);
    assert_eq!((stats.queue.as_str(), stats.status.as_str(), &stats.stats["available"]), ("default", "active", &json!(1)));
    assert!(!stats.computed_at.is_empty());
    let body = json!({"name": "daily", "cron": "0 9 * * *", "timezone": "UTC", "type": "report.build", "args": [], "overlap_policy": "skip", "enabled": true});
    let entry: CronJob = read(&sdk.send("POST", "/cron", Some(body)).await);
    assert_eq!((entry.name.as_str(), entry.cron.as_str(), entry.timezone.as_str()), ("daily", "0 9 * * *", "UTC"));
    assert!(entry.job_type == "report.build" && entry.enabled && entry.run_count == Some(0));
    #[derive(Deserialize)]
    struct All {
        cron_jobs: Vec<CronJob>,
    }
    let list: All = read(&sdk.send("GET", "/cron", None).await);
    assert_eq!(list.cron_jobs.len(), 1);
    let manifest: Manifest = read(&sdk.raw("GET", "/ojs/manifest", None).await);
    assert!(manifest.extensions.unwrap().contains(&"x-worker-exchange".to_owned()));
    assert_eq!((manifest.conformance_level, manifest.conformance_tier.as_deref()), (4, Some("runtime")));
    assert!(manifest.capabilities["cron_jobs"] && manifest.endpoints.contains_key("manifest"));
}

#[tokio::test]
async fn health_queues_dead_letters_and_schemas() {
    // src/queue.rs at 2e537f1f, src/schema.rs at 7f62be4c: what has no default is a must.
    #[derive(Deserialize)]
    struct Health {
        status: String,
        version: Option<String>,
        uptime_seconds: Option<u64>,
    }
    #[derive(Deserialize)]
    struct Queue {
        name: String,
        status: Option<String>,
    }
    #[derive(Deserialize)]
    struct Queues {
        queues: Vec<Queue>,
    }
    #[derive(Deserialize)]
    struct Pagination {
        total: u64,
        limit: u64,
        offset: u64,
        has_more: bool,
    }
    #[derive(Deserialize)]
    struct Dead {
        jobs: Vec<Job>,
        pagination: Option<Pagination>,
    }
    #[derive(Deserialize)]
    struct Schema {
        uri: String,
        version: String,
        created_at: String,
    }
    #[derive(Deserialize)]
    struct Schemas {
        schemas: Vec<Schema>,
    }
    let mut sdk = Sdk::new(HEADERS).await;
    let health: Health = read(&sdk.send("GET", "/health", None).await);
    assert_eq!((health.status.as_str(), health.version.as_deref()), ("ok", Some("1.0")));
    assert!(health.uptime_seconds.is_some());
    sdk.send("POST", "/jobs", Some(json!({"type": "t.one", "args": []}))).await.expect(201);
    let list: Queues = read(&sdk.send("GET", "/queues", None).await);
    assert_eq!((list.queues[0].name.as_str(), list.queues[0].status.as_deref()), ("default", Some("active")));
    let dead: Dead = read(&sdk.send("GET", "/dead-letter?limit=10&offset=0", None).await);
    let page = dead.pagination.unwrap();
    assert_eq!((dead.jobs.len(), page.total, page.limit, page.offset, page.has_more), (0, 0, 10, 0, false));
    let body = json!({"uri": "urn:x:mail", "type": "email.send", "version": "1.0.0", "schema": {"type": "array"}});
    sdk.send("POST", "/schemas", Some(body)).await.expect(201);
    let list: Schemas = read(&sdk.send("GET", "/schemas", None).await);
    assert_eq!((list.schemas[0].uri.as_str(), list.schemas[0].version.as_str()), ("urn:x:mail", "1.0.0"));
    assert!(!list.schemas[0].created_at.is_empty());
}
