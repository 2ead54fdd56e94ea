//! `openjobspec/ojs-ruby-sdk`: `ojs` 0.1.0 (lib/ojs/client.rb at 801c3c52, lib/ojs/transport/http.rb at a92a0193,
//! lib/ojs/worker.rb at 0d8859d1) and 1.0.0 (worker.rb at a5d32e46). Calls and expectations are those of its own
//! `spec/integration/with_redis_backend_spec.rb`, and more.
use serde_json::{Value, json};

use super::{OJS, Sdk, assert_is_id, text};

/// lib/ojs/transport/http.rb 99-105, and what Net::HTTP adds.
const HEADERS: &[(&str, &str)] = &[
    ("Content-Type", OJS),
    ("Accept", OJS),
    ("User-Agent", "ojs-ruby/0.1.0 ruby/3.3.8"),
    ("OJS-Version", "1.0.0-rc.1"),
    ("Accept-Encoding", "gzip;q=1.0,deflate;q=0.6,identity;q=0.3"),
    ("Connection", "keep-alive"),
];

/// lib/ojs/job.rb `to_hash`: one flat envelope with an id of the client's making.
fn envelope(id: &str, job_type: &str, queue: &str) -> Value {
    json!({"specversion": "1.0.0-rc.1", "id": id, "type": job_type, "queue": queue, "args": [{"test": true}]})
}

/// A fresh id; lib/ojs/job.rb `generate_id`.
fn id() -> String {
    ojs_model::JobId::now_v7().to_string()
}

/// lib/ojs/job.rb `from_hash(body)`: the members of the body itself. One that is missing gets a value of the SDK's own
/// making.
#[track_caller]
fn job(body: &Value) -> (String, String, String) {
    // lib/ojs/retry_policy.rb `validate!`
    assert!(body["retry"].is_null() || body["retry"]["max_attempts"].as_u64().is_none_or(|n| n >= 1), "{body}");
    (text(body, "id").to_owned(), text(body, "type").to_owned(), text(body, "state").to_owned())
}

#[tokio::test]
async fn jobs_are_read_at_the_top_of_the_answer() {
    let mut sdk = Sdk::new(HEADERS).await;
    // with_redis_backend_spec.rb: the version is the SDK's own `SPEC_VERSION`, which its requests name.
    let health = sdk.send("GET", "/health", None).await.expect(200).json();
    assert_eq!((text(&health, "status"), text(&health, "version")), ("ok", "1.0.0-rc.1"));
    let own = id();
    let created = sdk.send("POST", "/jobs", Some(envelope(&own, "integration.test", "it"))).await.expect(201).json();
    assert_eq!(job(&created), (own.clone(), "integration.test".to_owned(), "available".to_owned()));
    assert_is_id(&own);
    assert_eq!(created["job"]["id"], own, "who reads the specification's form finds it as well");
    let read = sdk.send("GET", &format!("/jobs/{own}"), None).await.expect(200).json();
    assert_eq!((job(&read).0, &read["args"], &read["queue"]), (own.clone(), &json!([{"test": true}]), &json!("it")));
    let cancelled = sdk.send("DELETE", &format!("/jobs/{own}"), None).await.expect(200).json();
    assert_eq!((job(&cancelled).2.as_str(), text(&cancelled, "previous_state")), ("cancelled", "available"));
    assert_eq!(job(&sdk.send("GET", &format!("/jobs/{own}"), None).await.expect(200).json()).2, "cancelled");
    let jobs: Vec<Value> = (0..5).map(|_| envelope(&id(), "integration.batch_test", "it")).collect();
    let batch = sdk.send("POST", "/jobs/batch", Some(json!({"jobs": jobs}))).await.expect(201).json();
    assert!(batch["jobs"].as_array().unwrap().iter().all(|found| job(found).1 == "integration.batch_test"));
    // lib/ojs/unique_policy.rb `to_hash`, and http.rb 123-134: 409 with the code `duplicate` is its ConflictError.
    let mut unique = envelope(&id(), "integration.unique_test", "it");
    unique["unique"] = json!({"keys": ["type", "args"], "period": "PT1M"});
    assert_eq!(job(&sdk.send("POST", "/jobs", Some(unique.clone())).await.expect(201).json()).2, "available");
    unique["id"] = json!(id());
    let refusal = sdk.send("POST", "/jobs", Some(unique)).await.expect(409).json();
    assert_eq!(refusal["error"]["code"], "duplicate");
    assert_is_id(text(&refusal["error"]["details"], "existing_job_id"));
}

#[tokio::test]
async fn queue_statistics_are_flat_and_say_whether_the_queue_is_paused() {
    let mut sdk = Sdk::new(HEADERS).await;
    sdk.send("POST", "/jobs", Some(envelope(&id(), "integration.stats_test", "it"))).await.expect(201);
    // lib/ojs/queue.rb `from_hash`: hash["queue"] || hash["name"].
    let stats = sdk.send("GET", "/queues/it/stats", None).await.expect(200).json();
    assert_eq!((text(&stats, "queue"), &stats["depth"], &stats["paused"]), ("it", &json!(1), &json!(false)));
    sdk.send("POST", "/queues/it/pause", None).await.expect(200);
    assert_eq!(sdk.send("GET", "/queues/it/stats", None).await.expect(200).json()["paused"], true);
    sdk.send("POST", "/queues/it/resume", None).await.expect(200);
    assert_eq!(sdk.send("GET", "/queues/it/stats", None).await.expect(200).json()["paused"], false);
    assert!(sdk.send("GET", "/queues", None).await.expect(200).json()["queues"].is_array());
}

#[tokio::test]
async fn a_worker_without_a_name_fetches_beats_acks_and_fails() {
    let mut sdk = Sdk::new(HEADERS).await;
    for _ in 0..2 {
        let mut body = envelope(&id(), "integration.worker_test", "it");
        // lib/ojs/retry_policy.rb `to_hash` leaves out what has its default.
        body["retry"] = json!({"max_attempts": 1, "on_exhaustion": "dead_letter"});
        sdk.send("POST", "/jobs", Some(body)).await.expect(201);
    }
    // lib/ojs/worker.rb `fetch_jobs`, `send_heartbeat`, `ack_job`, `nack_job`
    let fetched = sdk.send("POST", "/workers/fetch", Some(json!({"queues": ["it"], "batch_size": 5}))).await.expect(200).json();
    let ids: Vec<String> = fetched["jobs"].as_array().unwrap().iter().map(|found| job(found).0).collect();
    let answer = sdk.send("POST", "/workers/heartbeat", Some(json!({"job_ids": ids}))).await.expect(200).json();
    assert_eq!(answer["jobs_extended"], json!(ids));
    // 1.0.0 (a5d32e46): a name in the heartbeat, none in the fetch.
    let beat = json!({"worker_id": "worker_01234567-89a", "active_jobs": ids});
    let answer = sdk.send("POST", "/workers/heartbeat", Some(beat)).await.expect(200).json();
    assert_eq!((&answer["jobs_extended"], text(&answer, "state")), (&json!(ids), "running"));
    sdk.send("POST", "/workers/ack", Some(json!({"job_id": ids[0], "result": {"processed": true}}))).await.expect(200);
    let error = json!({"type": "RuntimeError", "message": "no", "backtrace": ["app.rb:1"]});
    sdk.send("POST", "/workers/nack", Some(json!({"job_id": ids[1], "error": error}))).await.expect(200);
    assert_eq!(job(&sdk.send("GET", &format!("/jobs/{}", ids[0]), None).await.expect(200).json()).2, "completed");
    let dead = sdk.send("GET", "/dead-letter", None).await.expect(200).json();
    assert_eq!(job(&dead["jobs"][0]).0, ids[1]);
    let again = sdk.send("POST", &format!("/dead-letter/{}/retry", ids[1]), None).await.expect(200).json();
    assert_eq!(job(&again).2, "available");
    // lib/ojs/client.rb `discard_dead_letter`
    let fetched = sdk.send("POST", "/workers/fetch", Some(json!({"queues": ["it"], "batch_size": 1}))).await.expect(200).json();
    assert_eq!(job(&fetched["jobs"][0]).0, ids[1]);
    let error = json!({"type": "RuntimeError", "message": "no", "backtrace": []});
    sdk.send("POST", "/workers/nack", Some(json!({"job_id": ids[1], "error": error}))).await.expect(200);
    sdk.send("DELETE", &format!("/dead-letter/{}", ids[1]), None).await.expect(200);
    assert_eq!(sdk.send("GET", "/dead-letter", None).await.expect(200).json()["jobs"], json!([]));
}

/// lib/ojs/durable.rb (89641418) goes around the SDK's transport: Net::HTTP names itself, and no header names OJS.
#[tokio::test]
async fn checkpoints_are_saved_read_and_deleted_by_plain_requests() {
    let mut sdk = Sdk::new(HEADERS).await;
    let own = id();
    sdk.send("POST", "/jobs", Some(envelope(&own, "integration.durable", "it"))).await.expect(201);
    sdk.send("POST", "/workers/fetch", Some(json!({"queues": ["it"], "batch_size": 1}))).await.expect(200);
    sdk.headers = &[("Content-Type", "application/json"), ("Accept", "*/*"), ("User-Agent", "Ruby")];
    let path = format!("/jobs/{own}/checkpoint");
    sdk.send("GET", &path, None).await.expect(404);
    let state = json!({"state": {"processed": 7}, "replay_log": [{"seq": 0, "type": "now", "key": "now", "result": "x"}]});
    sdk.send("PUT", &path, Some(json!({"state": state}))).await.expect(200);
    assert_eq!(sdk.send("GET", &path, None).await.expect(200).json()["state"], state);
    sdk.send("DELETE", &path, None).await.expect(200);
    sdk.send("GET", &path, None).await.expect(404);
}

#[tokio::test]
async fn a_heartbeat_without_a_name_renews_no_job_of_a_worker_with_a_name() {
    let mut sdk = Sdk::new(HEADERS).await;
    sdk.send("POST", "/jobs", Some(envelope(&id(), "t.one", "it"))).await.expect(201);
    let fetch = json!({"queues": ["it"], "count": 1, "worker_id": "w"});
    let held = sdk.send("POST", "/workers/fetch", Some(fetch)).await.expect(200).json()["jobs"][0]["id"].clone();
    let answer = sdk.send("POST", "/workers/heartbeat", Some(json!({"job_ids": [held]}))).await.expect(200).json();
    assert_eq!((&answer["jobs_extended"], &answer["state"]), (&json!([]), &json!("running")));
    // Nothing named, by no worker: that is a mistake of the client.
    assert_eq!(sdk.send("POST", "/workers/heartbeat", Some(json!({"job_ids": []}))).await.expect(400).code(), "invalid_payload");
}

#[tokio::test]
async fn workflows_and_cron_entries() {
    let mut sdk = Sdk::new(HEADERS).await;
    // lib/ojs/workflow.rb `to_hash`; the caller gets the body itself and takes `["id"]`.
    let step = |name: &str| json!({"type": name, "args": [{"step": 1}]});
    let body = json!({"type": "chain", "name": "integration-chain-test", "steps": [step("integration.chain_step1"), step("integration.chain_step2")]});
    let created = sdk.send("POST", "/workflows", Some(body)).await.expect(201).json();
    let id = text(&created, "id").to_owned();
    assert_eq!((text(&created, "state"), text(&created, "name")), ("running", "integration-chain-test"));
    assert_eq!(sdk.send("GET", &format!("/workflows/{id}"), None).await.expect(200).json()["id"], id);
    assert_eq!(sdk.send("DELETE", &format!("/workflows/{id}"), None).await.expect(200).json()["state"], "cancelled");
    // lib/ojs/client.rb `register_cron_job` sends the queue at the top; `list_cron_jobs` reads `entries`.
    let cron =
        json!({"name": "daily", "cron": "*/5 * * * *", "type": "report.build", "args": [], "queue": "mail", "meta": {"a": 1}});
    let entry = sdk.send("POST", "/cron", Some(cron)).await.expect(201).json();
    assert_eq!(entry["cron_job"]["options"]["queue"], "mail");
    let entries = sdk.send("GET", "/cron", None).await.expect(200).json()["entries"].clone();
    assert_eq!((entries.as_array().unwrap().len(), text(&entries[0], "name")), (1, "daily"));
    assert_eq!(sdk.raw("GET", "/ojs/manifest", None).await.expect(200).json()["conformance_level"], 4);
}
