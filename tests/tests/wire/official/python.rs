//! `openjobspec/ojs-python-sdk`: `openjobspec` 0.1.0 (src/ojs/transport/http.py at 0c0e9a25) and the newest
//! (src/ojs/transport/http/transport.py at a0e56dd9, which decodes JSON only from a media type that contains
//! `application/json`). Calls and expectations are those of its own `tests/integration/test_with_redis_backend.py`, and
//! more.
use ojs_tests::Answer;
use serde_json::{Value, json};

use super::{OJS, Sdk, assert_is_id, text};

/// src/ojs/transport/http/transport.py 56-60, and what httpx adds. 0.1.0 sends no `OJS-Version`.
const HEADERS: &[(&str, &str)] = &[
    ("Accept", OJS),
    ("Accept-Encoding", "gzip, deflate"),
    ("Connection", "keep-alive"),
    ("User-Agent", "python-httpx/0.28.1"),
    ("Content-Type", OJS),
    ("OJS-Version", "1.0"),
];
const OLD: &[(&str, &str)] = &[("Accept", OJS), ("User-Agent", "python-httpx/0.27.0"), ("Content-Type", OJS)];

/// transport.py 177-188: what is not called `application/json` is not decoded.
#[track_caller]
fn decoded(answer: Answer) -> Value {
    assert!(answer.status < 400, "{}: {}", answer.status, String::from_utf8_lossy(&answer.body));
    let media = answer.header("content-type").unwrap_or_default();
    assert!(media.contains("application/json"), "the SDK would answer {{\"_raw\": …}}: {media}");
    answer.json()
}

/// src/ojs/job.py `Job.from_dict`: `id`, `type` and a state of the eight are a must.
#[track_caller]
fn job(job: &Value) -> (String, String) {
    let states = ["scheduled", "available", "pending", "active", "completed", "retryable", "cancelled", "discarded"];
    assert!(states.contains(&text(job, "state")), "{job}");
    assert!(job["args"].is_array() && text(job, "type").contains('.'));
    (text(job, "id").to_owned(), text(job, "state").to_owned())
}

#[tokio::test]
async fn its_own_integration_tests_find_what_they_expect() {
    let mut sdk = Sdk::new(HEADERS).await;
    assert_eq!(decoded(sdk.send("GET", "/health", None).await)["status"], "ok");
    let body = json!({"type": "test.echo", "args": ["hello", "world"], "options": {"queue": "test-integration"}});
    let created = decoded(sdk.send("POST", "/jobs", Some(body)).await);
    let (id, state) = job(&created["job"]);
    assert_is_id(&id);
    assert_eq!((state.as_str(), &created["job"]["args"]), ("available", &json!(["hello", "world"])));
    assert_eq!(job(&decoded(sdk.send("GET", &format!("/jobs/{id}"), None).await)["job"]).0, id);
    // src/ojs/retry.py to_dict
    let retry = json!({"max_attempts": 5, "initial_interval": "PT2S", "backoff_coefficient": 3.0, "max_interval": "PT5M", "jitter": true});
    let body = json!({"type": "test.echo", "args": ["retry-test"], "options": {"retry": retry}});
    let read = decoded(sdk.send("POST", "/jobs", Some(body)).await)["job"]["retry"].clone();
    assert_eq!((&read["max_attempts"], &read["initial_interval"]), (&json!(5), &json!("PT2S")));
    let jobs: Vec<Value> = (1..=3).map(|n| json!({"type": "test.echo", "args": [format!("batch-{n}")]})).collect();
    let batch = decoded(sdk.send("POST", "/jobs/batch", Some(json!({"jobs": jobs}))).await);
    assert_eq!(batch["jobs"].as_array().unwrap().iter().map(job).count(), 3);
    assert_eq!(job(&decoded(sdk.send("DELETE", &format!("/jobs/{id}"), None).await)["job"]).1, "cancelled");
    let queues = decoded(sdk.send("GET", "/queues", None).await)["queues"].clone();
    assert!(queues.as_array().unwrap().iter().any(|queue| text(queue, "name") == "default"));
    // src/ojs/workflow.py chain: a name, steps with ids.
    let body = json!({"name": "integration-test-chain", "steps": [
        {"id": "step-0", "type": "test.echo", "args": ["step1"], "depends_on": []},
        {"id": "step-1", "type": "test.echo", "args": ["step2"], "depends_on": ["step-0"]}]});
    let created = decoded(sdk.send("POST", "/workflows", Some(body)).await)["workflow"].clone();
    let read = decoded(sdk.send("GET", &format!("/workflows/{}", text(&created, "id")), None).await)["workflow"].clone();
    assert_eq!(
        (read["id"].clone(), text(&read, "state"), text(&read, "name")),
        (created["id"].clone(), "running", "integration-test-chain")
    );
    // WorkflowStep.from_dict: `id` and `type` are a must.
    let steps = read["steps"].as_array().unwrap().iter().map(|step| (text(step, "id"), text(step, "type")));
    assert_eq!(steps.collect::<Vec<_>>(), [("step-0", "test.echo"), ("step-1", "test.echo")]);
}

#[tokio::test]
async fn a_worker_and_the_other_calls() {
    for headers in [HEADERS, OLD] {
        let mut sdk = Sdk::new(headers).await;
        for n in 0..2 {
            let unique = json!({"on_conflict": "reject", "key": ["type", "queue", "args"], "period": "PT1H", "states": ["available", "active", "scheduled"]});
            let body = json!({"type": "test.echo", "args": [n], "options": {"unique": unique}});
            decoded(sdk.send("POST", "/jobs", Some(body.clone())).await);
            // errors.py raise_for_error: `error.code` decides the class.
            let again = sdk.send("POST", "/jobs", Some(body)).await.expect(409);
            assert_eq!(again.json()["error"]["code"], "duplicate");
        }
        let fetch =
            json!({"queues": ["default"], "count": 2, "visibility_timeout_ms": 30000, "worker_id": "worker_0123456789abcdef"});
        let jobs = decoded(sdk.send("POST", "/workers/fetch", Some(fetch)).await)["jobs"].clone();
        let ids: Vec<String> = jobs.as_array().unwrap().iter().map(|found| job(found).0).collect();
        let beat = json!({"worker_id": "worker_0123456789abcdef", "active_jobs": ids, "visibility_timeout_ms": 30000});
        let answer = decoded(sdk.send("POST", "/workers/heartbeat", Some(beat)).await);
        assert_eq!((text(&answer, "state"), &answer["jobs_extended"]), ("running", &json!(ids)));
        // src/ojs/progress.py (dad12c2a): whole per cent, and no message where there is none.
        decoded(sdk.send("POST", "/workers/progress", Some(json!({"job_id": ids[0], "percentage": 25}))).await);
        let progress = decoded(sdk.send("GET", &format!("/jobs/{}/progress", ids[0]), None).await);
        assert_eq!((&progress["progress"], &progress["message"]), (&json!(0.25), &Value::Null));
        decoded(sdk.send("POST", "/workers/ack", Some(json!({"job_id": ids[0], "result": {"sent": true}}))).await);
        let error = json!({"code": "handler_error", "message": "no", "retryable": false, "details": {"traceback": "…"}});
        decoded(sdk.send("POST", "/workers/nack", Some(json!({"job_id": ids[1], "error": error}))).await);
        assert_eq!(job(&decoded(sdk.send("GET", &format!("/jobs/{}", ids[1]), None).await)["job"]).1, "discarded");
        // src/ojs/queue.py QueueStats.from_dict: `queue` is a text, the numbers stand in `stats`.
        let stats = decoded(sdk.send("GET", "/queues/default/stats", None).await);
        assert_eq!((text(&stats, "queue"), text(&stats, "status")), ("default", "active"));
        assert_eq!(stats["stats"]["discarded"], 1);
        assert!(stats["stats"]["completed_last_hour"].is_u64() && stats["stats"]["avg_duration_ms"].is_number());
        text(&stats, "computed_at");
        decoded(sdk.send("POST", "/queues/default/pause", None).await);
        decoded(sdk.send("POST", "/queues/default/resume", None).await);
        let body = json!({"name": "daily", "cron": "0 9 * * *", "type": "report.build", "args": []});
        assert_eq!(decoded(sdk.send("POST", "/cron", Some(body)).await)["cron_job"]["name"], "daily");
        let list = decoded(sdk.send("GET", "/cron?limit=50&offset=0", None).await);
        assert_eq!(list["cron_jobs"].as_array().unwrap().len(), 1);
        decoded(sdk.send("DELETE", "/cron/daily", None).await);
        assert_eq!(decoded(sdk.send("GET", "/dead-letter?limit=50&offset=0", None).await)["jobs"], json!([]));
        assert_eq!(decoded(sdk.raw("GET", "/ojs/manifest", None).await)["conformance_level"], 4);
    }
}
