//! `openjobspec/ojs-go-sdk`: client.go at 0f5a21bd, transport.go at 4910bc62, worker.go at 0bcc3284, queue.go and
//! workflow.go at 2401b577, job.go at 35297139. Its answers have types, as the structs below have: what does not fit is
//! an error of its decoder.
use std::collections::HashMap;

use ojs_tests::Answer;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{OJS, Sdk, assert_is_id};

/// transport.go 81-92, and what net/http adds.
const HEADERS: &[(&str, &str)] = &[
    ("User-Agent", "Go-http-client/1.1"),
    ("Accept", OJS),
    ("Content-Type", OJS),
    ("Ojs-Version", "1.0"),
    ("Accept-Encoding", "gzip"),
];

/// job.go 48-77. A result that is no object cannot be read by this SDK (dialects E.4, row 10).
#[derive(Deserialize)]
struct Job {
    id: String,
    #[serde(rename = "type")]
    job_type: String,
    state: String,
    queue: String,
    attempt: i64,
    max_attempts: i64,
    #[serde(default)]
    meta: Map<String, Value>,
    #[serde(default)]
    result: Option<Map<String, Value>>,
    #[serde(default)]
    error: Option<JobError>,
    args: Vec<Value>,
}

/// job.go 150-155.
#[derive(Deserialize)]
struct JobError {
    code: String,
    message: String,
    retryable: bool,
}

#[derive(Deserialize)]
struct JobResponse {
    job: Job,
}

#[derive(Deserialize)]
struct Jobs {
    jobs: Vec<Job>,
}

/// queue.go 58-75.
#[derive(Deserialize)]
struct Stats {
    queue: String,
    status: String,
    stats: HashMap<String, Value>,
    computed_at: String,
}

/// client.go 298-308.
#[derive(Deserialize)]
struct Manifest {
    ojs_version: String,
    implementation: HashMap<String, String>,
    conformance_level: i64,
    protocols: Vec<String>,
    backend: String,
    capabilities: HashMap<String, bool>,
    extensions: Vec<String>,
    endpoints: HashMap<String, String>,
}

/// workflow.go 86-113.
#[derive(Deserialize)]
struct WorkflowResponse {
    workflow: Workflow,
}

#[derive(Deserialize)]
struct Workflow {
    id: String,
    state: String,
    #[serde(default)]
    steps: Vec<Step>,
    #[serde(default)]
    steps_cancelled: i64,
}

#[derive(Deserialize)]
struct Step {
    id: String,
    #[serde(rename = "type")]
    job_type: String,
    state: String,
    job_id: Option<String>,
    #[serde(default)]
    result: Option<Map<String, Value>>,
}

/// client.go 363-375.
#[derive(Deserialize)]
struct CronJob {
    name: String,
    cron: String,
    timezone: String,
    #[serde(rename = "type")]
    job_type: String,
    args: Vec<Value>,
    status: String,
}

#[track_caller]
fn read<T: DeserializeOwned>(answer: &Answer) -> T {
    let body = String::from_utf8_lossy(&answer.body);
    assert!(answer.status < 400, "{}: {body}", answer.status);
    serde_json::from_slice(&answer.body).unwrap_or_else(|error| panic!("ojs: unmarshal response: {error}: {body}"))
}

#[tokio::test]
async fn jobs_and_a_worker() {
    let mut sdk = Sdk::new(HEADERS).await;
    // client.go 23-44: what the program left out is left out; retry.go 35-43: milliseconds.
    let retry = json!({"max_attempts": 1, "initial_interval_ms": 1000, "backoff_coefficient": 2, "max_interval_ms": 300_000, "jitter": true});
    let body = json!({"type": "email.send", "args": [{"to": "a@example.com"}], "meta": {"trace": "x"},
        "options": {"queue": "mail", "retry": retry, "tags": ["a"], "timeout_ms": 1500}});
    let created: JobResponse = read(&sdk.send("POST", "/jobs", Some(body.clone())).await);
    assert_is_id(&created.job.id);
    assert_eq!((created.job.job_type.as_str(), created.job.queue.as_str(), created.job.max_attempts), ("email.send", "mail", 1));
    assert_eq!((created.job.meta["trace"].clone(), created.job.args[0]["to"].clone()), (json!("x"), json!("a@example.com")));
    let batch: Jobs =
        read(&sdk.send("POST", "/jobs/batch", Some(json!({"jobs": [body, {"type": "email.send", "args": []}]}))).await);
    let cancelled: JobResponse = read(&sdk.send("DELETE", &format!("/jobs/{}", batch.jobs[1].id), None).await);
    assert_eq!(cancelled.job.state, "cancelled");
    // worker.go 388-404, 434-452, 407-432
    let fetch = json!({"queues": ["mail"], "count": 10, "worker_id": "worker_host_1_2"});
    let fetched: Jobs = read(&sdk.send("POST", "/workers/fetch", Some(fetch)).await);
    let [first, second] = fetched.jobs.as_slice() else { panic!("two were enqueued") };
    assert_eq!((first.attempt, first.state.as_str()), (1, "active"));
    let beat =
        json!({"worker_id": "worker_host_1_2", "state": "running", "active_jobs": 2, "active_job_ids": [first.id, second.id]});
    let answer: HashMap<String, Value> = read(&sdk.send("POST", "/workers/heartbeat", Some(beat)).await);
    assert_eq!(answer["state"], "running");
    // progress.go (d8e95a10)
    let report = json!({"job_id": first.id, "percentage": 100, "message": "done", "data": {"rows": 3}});
    sdk.send("POST", "/workers/progress", Some(report)).await.expect(200);
    sdk.send("POST", "/workers/ack", Some(json!({"job_id": first.id, "result": {"n": 1}}))).await.expect(200);
    let error = json!({"code": "handler_error", "message": "no", "retryable": true});
    sdk.send("POST", "/workers/nack", Some(json!({"job_id": second.id, "error": error}))).await.expect(200);
    let done: JobResponse = read(&sdk.send("GET", &format!("/jobs/{}", first.id), None).await);
    assert_eq!((done.job.state.as_str(), done.job.result.unwrap()["n"].clone()), ("completed", json!(1)));
    let failed: JobResponse = read(&sdk.send("GET", &format!("/jobs/{}", second.id), None).await);
    let error = failed.job.error.unwrap();
    assert_eq!((error.code.as_str(), error.message.as_str(), error.retryable), ("handler_error", "no", true));
    let dead: Jobs = read(&sdk.send("GET", "/dead-letter?limit=10&offset=0&queue=mail", None).await);
    assert!(dead.jobs.is_empty(), "on_exhaustion was not asked for");
}

#[tokio::test]
async fn statistics_the_manifest_and_health_have_the_types_of_the_binding() {
    let mut sdk = Sdk::new(HEADERS).await;
    sdk.send("POST", "/jobs", Some(json!({"type": "t.one", "args": []}))).await.expect(201);
    let stats: Stats = read(&sdk.send("GET", "/queues/default/stats", None).await);
    assert_eq!((stats.queue.as_str(), stats.status.as_str(), &stats.stats["available"]), ("default", "active", &json!(1)));
    assert!(!stats.computed_at.is_empty());
    let manifest: Manifest = read(&sdk.raw("GET", "/ojs/manifest", None).await);
    assert!(
        manifest.extensions.iter().any(|name| name == "job-trains")
            && manifest.extensions.iter().any(|name| name == "dead-letter")
    );
    assert_eq!((manifest.conformance_level, manifest.ojs_version.as_str(), manifest.backend.as_str()), (4, "1.0", "memory"));
    assert!(manifest.capabilities["workflows"] && manifest.implementation["language"] == "rust");
    assert!(manifest.protocols.contains(&"http".to_owned()) && manifest.endpoints.contains_key("health"));
    let health: HashMap<String, Value> = read(&sdk.send("GET", "/health", None).await);
    assert!(health["status"] == "ok" && health["uptime_seconds"].is_u64() && health["backend"]["latency_ms"].is_u64());
    sdk.send("POST", "/queues/default/pause", None).await.expect(200);
    sdk.send("POST", "/queues/default/resume", None).await.expect(200);
}

#[tokio::test]
async fn workflows_and_cron_entries() {
    let mut sdk = Sdk::new(HEADERS).await;
    // workflow.go 115-128: ids and depends_on, no type.
    let step = |id: &str, after: Value| json!({"id": id, "type": "wf.step", "args": [], "depends_on": after});
    let body = json!({"name": "etl", "steps": [step("step-0", json!([])), step("step-1", json!(["step-0"]))]});
    let created: WorkflowResponse = read(&sdk.send("POST", "/workflows", Some(body)).await);
    let [first, second] = created.workflow.steps.as_slice() else { panic!("two steps") };
    assert_eq!((first.id.as_str(), first.job_type.as_str(), second.state.as_str()), ("step-0", "wf.step", "waiting"));
    assert!(first.job_id.is_some() && second.job_id.is_none() && first.result.is_none());
    let path = format!("/workflows/{}", created.workflow.id);
    let read_back: WorkflowResponse = read(&sdk.send("GET", &path, None).await);
    assert_eq!(read_back.workflow.state, "running");
    let cancelled: WorkflowResponse = read(&sdk.send("DELETE", &path, None).await);
    assert_eq!((cancelled.workflow.state.as_str(), cancelled.workflow.steps_cancelled), ("cancelled", 2));
    // client.go 388-396
    #[derive(Deserialize)]
    struct One {
        cron_job: CronJob,
    }
    #[derive(Deserialize)]
    struct All {
        cron_jobs: Vec<CronJob>,
    }
    let body = json!({"name": "daily", "cron": "0 9 * * *", "timezone": "Europe/Berlin", "type": "report.build", "args": [], "options": {"queue": "mail"}});
    let entry: One = read(&sdk.send("POST", "/cron", Some(body)).await);
    assert_eq!((entry.cron_job.name.as_str(), entry.cron_job.cron.as_str()), ("daily", "0 9 * * *"));
    let list: All = read(&sdk.send("GET", "/cron", None).await);
    let [entry] = list.cron_jobs.as_slice() else { panic!("one entry") };
    assert_eq!(
        (entry.timezone.as_str(), entry.job_type.as_str(), entry.status.as_str()),
        ("Europe/Berlin", "report.build", "active")
    );
    assert!(entry.args.is_empty());
    sdk.send("DELETE", "/cron/daily", None).await.expect(200);
}

#[tokio::test]
async fn schemas_have_their_types() {
    // schema.go (b5173f0c): the version is a text.
    #[derive(Deserialize)]
    struct Schema {
        uri: String,
        version: String,
        created_at: String,
    }
    #[derive(Deserialize)]
    struct One {
        schema: Schema,
    }
    #[derive(Deserialize)]
    struct All {
        schemas: Vec<Schema>,
        pagination: HashMap<String, Value>,
    }
    let mut sdk = Sdk::new(HEADERS).await;
    let body = json!({"uri": "urn:x:mail", "type": "email.send", "version": "1.0.0", "schema": {"type": "array"}});
    let one: One = read(&sdk.send("POST", "/schemas", Some(body)).await);
    assert_eq!((one.schema.uri.as_str(), one.schema.version.as_str()), ("urn:x:mail", "1.0.0"));
    let all: All = read(&sdk.send("GET", "/schemas", None).await);
    assert!(all.schemas.len() == 1 && !all.schemas[0].created_at.is_empty() && all.pagination["total"] == 1);
    // url.PathEscape leaves colons.
    let found: One = read(&sdk.send("GET", "/schemas/urn:x:mail", None).await);
    assert_eq!(found.schema.uri, "urn:x:mail");
    sdk.send("DELETE", "/schemas/urn:x:mail", None).await.expect(200);
}
