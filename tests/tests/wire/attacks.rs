//! Attacks that have succeeded once, against a server in a process of its own. Each has a bound: on memory, disk, the
//! size of answers, the wait of others, or on what a stranger can change. Those by silent connections, and on secrets
//! and files of keys, are in `cli/tests/cli/edge.rs`.
use std::time::{Duration, Instant};

use ojs_tests::{Answer, ServerProcess, job_id};
use serde_json::{Value, json};

const MIB: usize = 1024 * 1024;

/// Bytes of the files of a server.
fn on_disk(server: &ServerProcess) -> u64 {
    std::fs::read_dir(server.directory()).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

/// 226 ids of a mebibyte each made 919 MiB of disk and 304 MiB of memory.
#[tokio::test]
async fn long_names_take_neither_disk_nor_memory() {
    let server = ServerProcess::sqlite().await;
    server.connect().await.post("/workers/heartbeat", &json!({"worker_id": "w", "active_jobs": 0})).await.expect(200);
    let (memory, disk) = (server.peak_memory(), on_disk(&server));
    let long = "w".repeat(MIB);
    for n in 0..226 {
        let path = ["/workers/heartbeat", "/workers/fetch", "/workers/exchange"][n % 3];
        let body = json!({"worker_id": format!("{n}{long}"), "queues": ["default"]});
        let refused = server.connect().await.post(path, &body).await.expect(400);
        assert_eq!(refused.json()["error"]["details"]["field"], "worker_id");
        assert!(refused.body.len() < 2_000, "{path} answers with {} bytes", refused.body.len());
    }
    let (grown, written) = (server.peak_memory() - memory, on_disk(&server) - disk);
    assert!(grown < 64 * MIB as u64, "memory has grown by {grown} bytes");
    assert!(written < 8 * MIB as u64, "{written} bytes were written");
    let workers = server.connect().await.get("/admin/workers").await.expect(200).json();
    assert_eq!(workers["pagination"]["total"], 1, "{workers}");
}

/// A heartbeat with a million ids held others up for 1.5 s, and an exchange with 600,000 outcomes was answered with
/// 247 MB.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_about_very_many_jobs_are_refused_briefly_and_delay_no_others() {
    let server = ServerProcess::memory().await;
    let id = job_id();
    let ids = format!(r#"{{"worker_id":"w","active_jobs":["{id}"{}]}}"#, format!(r#","{id}""#).repeat(999_999));
    let outcomes = format!(r#"{{"outcomes":[{{"job_id":"{id}"}}{}]}}"#, format!(r#",{{"job_id":"{id}"}}"#).repeat(599_999));
    for tries_left in (0..4).rev() {
        let attack = async {
            for (path, body, field) in [("/workers/heartbeat", &ids, "active_jobs"), ("/workers/exchange", &outcomes, "outcomes")]
            {
                let refused = server.connect().await.call("POST", path, body).await.unwrap().expect(413);
                assert_eq!(
                    (refused.code().as_str(), &refused.json()["error"]["details"]["field"]),
                    ("batch_size_exceeded", &json!(field))
                );
                assert!(refused.body.len() < 2_000, "{path} answers with {} bytes", refused.body.len());
            }
        };
        let mut longest = Duration::ZERO;
        let mut wire = server.connect().await;
        let others = async {
            loop {
                let started = Instant::now();
                wire.post("/jobs", &json!({"type": "test.plain", "args": []})).await.expect(201);
                longest = longest.max(started.elapsed());
            }
        };
        tokio::select! { () = attack => {}, () = others => {} }
        if longest < Duration::from_millis(500) {
            return;
        }
        // A machine that stalls for as long proves nothing.
        assert!(tries_left > 0, "an enqueue waited for {longest:?}");
    }
}

/// What a scrape and a list answer must not grow with the names that clients make up.
#[tokio::test]
async fn a_hundred_thousand_queues_keep_figures_and_lists_short() {
    let server = ServerProcess::memory().await;
    for batch in 0..10 {
        let job = |n: usize| json!({"type": "t", "args": [], "options": {"queue": format!("q-{batch}-{n}")}});
        let jobs: Vec<Value> = (0..10_000).map(job).collect();
        server.connect().await.post("/jobs/batch", &json!({"jobs": jobs})).await.expect(201);
    }
    let figures = server.metrics().await;
    // A thousand queues are named, each with its eight states: without the bound it would be a hundred times as much.
    assert!(figures.len() < 4 * MIB, "{} bytes of figures", figures.len());
    let depth = figures.lines().filter(|line| line.starts_with("ojs_queue_depth{") && line.contains(r#"state="available""#));
    let jobs: f64 = depth.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum();
    assert!((jobs - 100_000.0).abs() < 0.5, "the lines together still say how many jobs there are: {jobs}");
    for path in ["/queues?limit=1000000", "/admin/queues?per_page=1000000", "/admin/jobs?per_page=1000000", "/admin/stats"] {
        let answer = server.connect().await.get(path).await.expect(200);
        assert!(answer.body.len() < MIB / 4, "{path} answers with {} bytes", answer.body.len());
    }
}

/// A client that knows the id of a job, and not the token of the claim, changes nothing of it.
#[tokio::test]
async fn a_held_job_is_settled_released_and_extended_by_its_token_only() {
    let server = ServerProcess::memory().await;
    let mut wire = server.connect().await;
    wire.post("/jobs", &json!({"type": "t", "args": []})).await.expect(201);
    let fetch = json!({"queues": ["default"], "worker_id": "w", "lease_tokens": true, "visibility_timeout_ms": 600_000});
    let held = wire.post("/workers/fetch", &fetch).await.expect(200).json()["jobs"][0].clone();
    let id = held["id"].as_str().unwrap();
    let failure = json!({"code": "x", "message": "m"});
    for worker in [Value::Null, json!("w"), json!("thief")] {
        let with = |more: Value| {
            let mut body = json!({"job_id": id, "worker_id": worker});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            body
        };
        for (path, body) in [
            ("/workers/ack".to_owned(), with(json!({"result": 1}))),
            ("/workers/nack".to_owned(), with(json!({"error": failure}))),
            ("/workers/nack".to_owned(), with(json!({"requeue": true}))),
            (format!("/jobs/{id}/ack"), with(json!({"result": 1}))),
            (format!("/jobs/{id}/nack"), with(json!({"error": failure}))),
        ] {
            let refused = server.connect().await.post(&path, &body).await.expect(409);
            assert_eq!(refused.json()["error"]["details"]["reason"], "lease_token_required", "{path} {body}");
        }
        let outcomes = json!({"worker_id": worker, "outcomes": [{"job_id": id}]});
        let exchanged = server.connect().await.post("/workers/exchange", &outcomes).await.expect(200).json();
        assert_eq!(exchanged["results"][0]["error"]["details"]["reason"], "lease_token_required", "{exchanged}");
    }
    let beat = json!({"worker_id": "w", "active_jobs": [id]});
    let beaten = server.connect().await.post("/workers/heartbeat", &beat).await.expect(200).json();
    assert_eq!(beaten["jobs_extended"], json!([]), "{beaten}");
    let save = json!({"state": {"at": 1}, "worker_id": "w"});
    let refused = server.connect().await.call("PUT", &format!("/jobs/{id}/checkpoint"), &save.to_string()).await.unwrap();
    assert_eq!(refused.expect(409).json()["error"]["details"]["reason"], "lease_token_required");
    assert_eq!(server.connect().await.get(&format!("/jobs/{id}")).await.expect(200).job()["state"], "active");
    wire.post("/workers/ack", &json!({"job_id": id, "lease_token": held["lease_token"]})).await.expect(200);
}

/// A workflow that is cancelled while its last step is acked was cancelled and its step completed, with nothing that
/// said which came first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancellation_beside_the_last_ack_has_one_truth() {
    let server = ServerProcess::sqlite().await;
    let (mut one, mut other) = (server.connect().await, server.connect().await);
    for round in 0..20 {
        let flow = json!({"type": "chain", "steps": [{"type": "t", "args": []}]});
        let flow = one.post("/workflows", &flow).await.expect(201).json()["workflow"]["id"].as_str().unwrap().to_owned();
        let fetch = json!({"queues": ["default"], "worker_id": "w"});
        let job = one.post("/workers/fetch", &fetch).await.expect(200).json()["jobs"][0].clone();
        let ack = json!({"job_id": job["id"], "lease_token": job["lease_token"]});
        let path = format!("/workflows/{flow}");
        let (cancelled, acked): (std::io::Result<Answer>, Answer) =
            tokio::join!(one.call("DELETE", &path, ""), other.post("/workers/ack", &ack));
        let cancelled = cancelled.unwrap();
        // A step that runs may finish, also when its workflow was cancelled before.
        acked.expect(200);
        let seen = one.get(&path).await.expect(200).json()["workflow"]["state"].clone();
        let expected = if cancelled.status == 200 { "cancelled" } else { "completed" };
        assert!(matches!(cancelled.status, 200 | 409), "round {round}: {cancelled:?}");
        assert_eq!(seen, expected, "round {round}: the cancellation was answered with {}", cancelled.status);
    }
}
