//! A node that is killed in the middle of its calls.
use std::collections::BTreeMap;

use ojs_postgres_fixture::{Options, Server};
use ojs_tests::{ServerProcess, until};
use serde_json::json;

use crate::endpoint::{Endpoint, Reply, Request};

/// Jobs that are at the endpoint when the node is killed.
const JOBS: usize = 5;
/// Milliseconds for an answer.
const TIMEOUT_MS: u64 = 10_000;
/// Seconds of a lease: the time for the answer, and 30.
const LEASE: i64 = 40;

/// When the request of each job was sent, in seconds, by the clock of the server.
fn times(requests: &[Request]) -> BTreeMap<String, i64> {
    let time = |request: &Request| request.header("x-ojs-timestamp").parse().unwrap();
    requests.iter().map(|request| (request.header("x-ojs-job-id").to_owned(), time(request))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_node_repeats_the_calls_of_a_killed_one_after_their_leases_and_not_before() {
    let server = tokio::task::spawn_blocking(|| Server::start(&Options::durable()).unwrap()).await.unwrap();
    let database = server.database().unwrap();
    let options = ["--webhook-allow", "127.0.0.0/8", "--log-level", "error"];
    let mut killed = ServerProcess::on(database.url(), &options).await;
    let replies = std::iter::repeat_n(Reply::Hang, JOBS).chain([Reply::json(&json!({"status": "completed"}))]);
    let mut endpoint = Endpoint::new(replies.collect()).await;
    let mut wire = killed.connect().await;
    let config = json!({"max_concurrency": JOBS, "timeout_ms": TIMEOUT_MS});
    let body = json!({"endpoint": endpoint.url(), "job_types": ["t"], "queues": ["q"], "config": config});
    wire.post("/push/endpoints", &body).await.expect(201);
    for _ in 0..JOBS {
        wire.post("/jobs", &json!({"type": "t", "args": [], "options": {"queue": "q"}})).await.expect(201);
    }
    let mut lost = Vec::new();
    for _ in 0..JOBS {
        lost.push(endpoint.next().await);
    }
    killed.kill().await;
    let other = ServerProcess::on(database.url(), &options).await;
    let mut repeated = Vec::new();
    for _ in 0..JOBS {
        repeated.push(endpoint.next().await);
    }
    let (lost, repeated) = (times(&lost), times(&repeated));
    assert_eq!((lost.len(), lost.keys().collect::<Vec<_>>()), (JOBS, repeated.keys().collect()), "each job once more");
    for (job, sent) in &lost {
        // Both times are whole seconds.
        assert!(repeated[job] - sent >= LEASE - 1, "{job} was sent at {sent} and, within its lease, at {}", repeated[job]);
        let state = async || other.connect().await.get(&format!("/jobs/{job}")).await.expect(200).job()["state"].clone();
        until("the job is completed", || async { (state().await == "completed").then_some(()) }).await;
    }
    assert!(!endpoint.has_more(), "none was sent a third time");
}
