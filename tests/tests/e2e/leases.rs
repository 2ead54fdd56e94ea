//! Leases on the wire, against the real server: who holds a job, for how long, and whose word counts.
use std::time::Duration;

use ojs_tests::{ServerProcess, Wire, until};
use serde_json::{Value, json};
use tokio::time::Instant;

async fn enqueue(wire: &mut Wire, options: Value) -> String {
    wire.post("/jobs", &json!({"type": "test.plain", "args": [], "options": options})).await.expect(201).job()["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Milliseconds: a lease that is meant to end.
const SHORT: u32 = 1000;
/// One that no test outlives, however slow the machine.
const LONG: u32 = 60_000;
/// One that is kept: long compared with the time for which a busy disk may answer no request.
const KEPT: u32 = 4000;

/// Fetches one job with a lease of so many milliseconds, waiting for it.
async fn fetch(wire: &mut Wire, worker: &str, lease: u32) -> Value {
    let body = json!({"queues": ["default"], "worker_id": worker, "visibility_timeout_ms": lease, "wait_ms": 30_000});
    wire.post("/workers/fetch", &body).await.expect(200).json()["jobs"][0].clone()
}

fn report(job: &Value, more: Value) -> Value {
    let mut body = json!({"job_id": job["id"], "lease_token": job["lease_token"]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// Scenario: the worker is killed between fetch and start, or anywhere later. Also under the same name as before (a Kubernetes
/// pod): the new process must not be taken for the owner of what the old one held.
#[tokio::test]
async fn a_silent_worker_loses_its_job_and_its_word() {
    let server = ServerProcess::sqlite().await;
    let mut wire = server.connect().await;
    enqueue(&mut wire, json!({})).await;
    let first = fetch(&mut wire, "pod-0", SHORT).await;
    let second = fetch(&mut wire, "pod-0", LONG).await;
    assert_eq!((&second["id"], &second["attempt"]), (&first["id"], &json!(2)), "back within the lease and a moment");
    assert_eq!(second["errors"][0]["code"], "visibility_timeout");
    assert!(second["lease_token"].as_i64() > first["lease_token"].as_i64());
    for (path, more) in [
        ("/workers/ack", json!({"result": "late"})),
        ("/workers/nack", json!({"error": {"code": "x", "message": "late"}})),
        ("/workers/nack", json!({"requeue": true})),
    ] {
        let answer = wire.post(path, &report(&first, more)).await.expect(409);
        assert_eq!((answer.code().as_str(), &answer.json()["error"]["details"]["reason"]), ("conflict", &json!("stale_lease")));
    }
    let beat = json!({"worker_id": "pod-0", "active_job_ids": [first["id"]], "lease_tokens": {first["id"].as_str().unwrap(): first["lease_token"]}});
    assert_eq!(
        wire.post("/workers/heartbeat", &beat).await.expect(200).json()["jobs_extended"],
        json!([]),
        "a stale beat extends nothing"
    );
    wire.post("/workers/ack", &report(&second, json!({"result": "in time"}))).await.expect(200);
    let job = wire.get(&format!("/jobs/{}", first["id"].as_str().unwrap())).await.expect(200).job();
    assert_eq!((&job["state"], &job["result"]), (&json!("completed"), &json!("in time")));
}

/// Scenario: the answer to an ack is lost on the wire and the worker asks again.
#[tokio::test]
async fn a_repeated_ack_is_a_success_until_the_job_moves_on() {
    let server = ServerProcess::sqlite().await;
    let mut wire = server.connect().await;
    enqueue(&mut wire, json!({})).await;
    let job = fetch(&mut wire, "w", LONG).await;
    for _ in 0..3 {
        let answer = wire.post("/workers/ack", &report(&job, json!({"result": 1}))).await.expect(200).json();
        assert_eq!(answer["state"], "completed");
    }
    // Saying something else about it is no repetition.
    let answer = wire.post("/workers/nack", &report(&job, json!({"error": {"code": "x", "message": "x"}}))).await.expect(409);
    assert_eq!(answer.json()["error"]["details"]["current_state"], "completed");
    assert_eq!(wire.get("/queues/default/stats").await.json()["queue"]["completed"], 1);
}

/// Scenario: servers and their leases. A token handed out before a kill stays good after it, and no later one is smaller.
#[tokio::test]
async fn tokens_keep_their_order_across_kills() {
    let mut server = ServerProcess::sqlite().await;
    let mut last = 0;
    for _ in 0..5 {
        let mut wire = server.connect().await;
        enqueue(&mut wire, json!({})).await;
        let body = json!({"queues": ["default"], "worker_id": "w", "visibility_timeout_ms": LONG});
        let job = wire.post("/workers/fetch", &body).await.expect(200).json()["jobs"][0].clone();
        let token = job["lease_token"].as_i64().unwrap();
        assert!(token > last, "{token} after {last}");
        last = token;
        server.kill().await;
        server = server.again().await;
        server.connect().await.post("/workers/ack", &report(&job, json!({}))).await.expect(200);
    }
}

/// Scenario: a job scheduled further ahead than any lease is delivered once, not once per lease.
#[tokio::test]
async fn a_scheduled_job_is_delivered_once() {
    let server = ServerProcess::sqlite().await;
    let mut wire = server.connect().await;
    let id = enqueue(&mut wire, json!({"scheduled_at": "+PT4S", "visibility_timeout_ms": 3000})).await;
    // The lease that it would have had is over by then; this one only has to last until the ack.
    let job = fetch(&mut wire, "w", LONG).await;
    assert_eq!((&job["id"], &job["attempt"]), (&json!(id), &json!(1)));
    wire.post("/workers/ack", &report(&job, json!({}))).await.expect(200);
    let stats = wire.get("/queues/default/stats").await.json();
    assert_eq!((&stats["queue"]["total"], &stats["queue"]["completed"]), (&json!(1), &json!(1)));
}

/// Scenario: heartbeats keep a lease alive for as long as they come, and only those of the holder.
#[tokio::test]
async fn heartbeats_extend_the_lease_of_the_holder_only() {
    let server = ServerProcess::sqlite().await;
    until("a job is kept, and acked", || kept(&server)).await;
}

/// Keeps a job for two and a half leases, and acks it. `None` where the machine stood still for a whole lease: that shows nothing.
async fn kept(server: &ServerProcess) -> Option<()> {
    let lease = Duration::from_millis(KEPT.into());
    let mut wire = server.connect().await;
    enqueue(&mut wire, json!({})).await;
    let mut sent = Instant::now();
    let job = fetch(&mut wire, "holder", KEPT).await;
    let beat = |worker: &str| json!({"worker_id": worker, "active_jobs": 1, "active_job_ids": [job["id"]], "visibility_timeout_ms": KEPT});
    let held_until = sent + lease * 5 / 2;
    while Instant::now() <= held_until {
        let before = std::mem::replace(&mut sent, Instant::now());
        // A connection that says nothing for 10 s is closed.
        let answer = server.connect().await.post("/workers/heartbeat", &beat("holder")).await.expect(200).json();
        if before.elapsed() >= lease {
            return None;
        }
        assert_eq!(answer["jobs_extended"], json!([job["id"]]));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut wire = server.connect().await;
    let stranger = wire.post("/workers/heartbeat", &beat("stranger")).await.expect(200).json();
    assert_eq!(stranger["jobs_extended"], json!([]));
    let acked = wire.post("/workers/ack", &report(&job, json!({}))).await;
    if sent.elapsed() >= lease {
        return None;
    }
    acked.expect(200);
    Some(())
}
