//! A worker against a server that offers the exchange (ADR 1).
use std::time::Duration;

use crate::support::{Server, done, job, worker};
use ojs::dispatch::{Outcome, Phase};
use ojs::transport::TransportErrorKind;
use ojs::worker::WorkerEvent;
use serde_json::{Value, json};
use tokio::time::Instant;

fn jobs(ids: impl IntoIterator<Item = usize>) -> Vec<Value> {
    ids.into_iter()
        .map(|n| {
            let mut job = job(&format!("job-{n}"));
            job["lease_token"] = json!(n);
            job
        })
        .collect()
}

/// Answers an exchange: every outcome was taken, these jobs are handed out.
fn take(call: crate::support::Call, jobs: &[Value]) {
    let outcomes = call.body()["outcomes"].as_array().map_or(0, Vec::len);
    let results: Vec<_> = (0..outcomes).map(|_| json!({"state": "completed"})).collect();
    call.reply(200, json!({"results": results, "jobs": jobs, "state": "running", "directive": "running"}));
}

#[tokio::test(start_paused = true)]
async fn an_idle_worker_holds_one_long_poll() {
    let (mut server, _host, _handle) = worker(3, |options| options);
    server.beats_alone();
    server.with_exchange().await;
    let poll = server.expect("/workers/exchange").await;
    assert_eq!(
        poll.body(),
        json!({"queues": ["default"], "count": 3, "worker_id": "w", "visibility_timeout_ms": 30000, "lease_tokens": true, "wait_ms": 20000})
    );
    assert_eq!(poll.request.wait, Duration::from_secs(20), "the transport must not time out before the server answers");
    assert!(server.hears_within(Duration::from_secs(19)).await.is_none());
    take(poll, &[]);
    let again = Instant::now();
    let poll = server.expect("/workers/exchange").await;
    assert_eq!((again.elapsed(), poll.body()["wait_ms"].clone()), (Duration::ZERO, json!(20000)));
}

#[tokio::test(start_paused = true)]
async fn outcomes_and_the_next_jobs_share_a_request() {
    let (mut server, mut host, _handle) = worker(2, |options| options);
    server.beats_alone();
    server.with_exchange().await;
    take(server.expect("/workers/exchange").await, &jobs([1, 2]));
    let (first, second) = (host.next().await, host.next().await);
    host.finish(first, done("1"));
    host.finish(second, Outcome::Released);
    let call = server.expect("/workers/exchange").await;
    assert_eq!(
        call.body(),
        json!({
            "queues": ["default"], "count": 2, "worker_id": "w", "visibility_timeout_ms": 30000, "lease_tokens": true,
            "outcomes": [{"job_id": "job-1", "lease_token": 1, "result": 1}, {"job_id": "job-2", "lease_token": 2, "requeue": true}],
        })
    );
    take(call, &jobs([3, 4]));
    assert_eq!(host.next().await.id, "job-3");
}

#[tokio::test(start_paused = true)]
async fn outcomes_do_not_wait_behind_a_long_poll() {
    let (mut server, mut host, handle) = worker(2, |options| options);
    server.beats_alone();
    server.with_exchange().await;
    take(server.expect("/workers/exchange").await, &jobs([1]));
    let poll = server.expect("/workers/exchange").await;
    assert_eq!((poll.body()["count"].clone(), poll.body()["wait_ms"].clone()), (json!(1), json!(20000)));
    let delivery = host.next().await;
    let finished = Instant::now();
    host.finish(delivery, done("1"));
    let call = server.expect("/workers/exchange").await;
    assert_eq!(finished.elapsed(), Duration::ZERO);
    assert_eq!(
        call.body(),
        json!({"worker_id": "w", "outcomes": [{"job_id": "job-1", "lease_token": 1, "result": 1}]}),
        "the poll asks for jobs already"
    );
    take(call, &[]);
    assert!(server.hears_within(Duration::from_secs(10)).await.is_none(), "one waiting request, not two");
    assert_eq!(handle.held(), 0);
    take(poll, &[]);
}

#[tokio::test(start_paused = true)]
async fn outcomes_gather_for_two_milliseconds_under_load() {
    let (mut server, mut host, _handle) = worker(100, |options| options);
    server.beats_alone();
    server.with_exchange().await;
    take(server.expect("/workers/exchange").await, &jobs(0..100));
    let mut running = Vec::new();
    for _ in 0..100 {
        running.push(host.next().await);
    }
    // The first goes at once: nothing was sent for a while.
    host.finish(running.pop().unwrap(), done("1"));
    let first = server.expect("/workers/exchange").await;
    assert_eq!(first.body()["outcomes"].as_array().unwrap().len(), 1);
    // The next few wait for company, but not for long.
    let began = Instant::now();
    for _ in 0..5 {
        host.finish(running.pop().unwrap(), done("1"));
    }
    let second = server.expect("/workers/exchange").await;
    assert_eq!(second.body()["outcomes"].as_array().unwrap().len(), 5);
    assert!((1..=4).contains(&began.elapsed().as_millis()), "{:?}", began.elapsed());
    // A full batch does not wait.
    let began = Instant::now();
    for _ in 0..64 {
        host.finish(running.pop().unwrap(), done("1"));
    }
    let third = server.expect("/workers/exchange").await;
    assert_eq!((third.body()["outcomes"].as_array().unwrap().len(), began.elapsed()), (64, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn each_outcome_has_its_own_answer() {
    let (mut server, mut host, handle) = worker(3, |options| options);
    let mut events = handle.events();
    server.beats_alone();
    server.with_exchange().await;
    take(server.expect("/workers/exchange").await, &jobs([1, 2, 3]));
    for _ in 0..3 {
        let delivery = host.next().await;
        host.finish(delivery, done("1"));
    }
    let call = server.expect("/workers/exchange").await;
    let refused =
        |code: &str, retryable: bool| json!({"job_id": "x", "error": {"code": code, "message": code, "retryable": retryable}});
    call.reply(
        200,
        json!({"jobs": [], "results": [{"state": "completed"}, refused("conflict", false), refused("backend_error", true)]}),
    );
    let mut calls = vec![server.expect("/workers/exchange").await, server.expect("/workers/exchange").await];
    calls.retain(|call| !call.body()["outcomes"].is_null());
    let [again] = &calls[..] else { panic!("one of the two is the long poll") };
    assert_eq!(
        again.body()["outcomes"],
        json!([{"job_id": "job-3", "lease_token": 3, "result": 1}]),
        "only the one that may still succeed"
    );
    let lost = loop {
        if let WorkerEvent::OutcomeLost { job_id, .. } = events.recv().await.unwrap() {
            break job_id;
        }
    };
    assert_eq!(lost, "job-2");
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_asked_for_again_with_the_same_outcomes() {
    let (mut server, mut host, handle) = worker(2, |options| options);
    server.beats_alone();
    server.with_exchange().await;
    take(server.expect("/workers/exchange").await, &jobs([1, 2]));
    let running = [host.next().await, host.next().await];
    handle.quiet();
    for delivery in running {
        host.finish(delivery, done("1"));
    }
    let call = server.expect("/workers/exchange").await;
    let outcomes = call.body()["outcomes"].clone();
    call.fail(TransportErrorKind::Timeout);
    let call = server.expect("/workers/exchange").await;
    assert_eq!(call.body()["outcomes"], outcomes);
    take(call, &[]);
    assert!(server.hears_within(Duration::from_secs(60)).await.is_none());
    assert_eq!(handle.held(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_refused_whole_is_taken_apart() {
    let (mut server, mut host, handle) = worker(2, |options| options);
    server.beats_alone();
    server.with_exchange().await;
    take(server.expect("/workers/exchange").await, &jobs([1, 2]));
    let running = [host.next().await, host.next().await];
    handle.quiet();
    for delivery in running {
        host.finish(delivery, done("1"));
    }
    server.expect("/workers/exchange").await.refuse(400, "invalid_payload", json!({}));
    server.expect("/workers/ack").await.refuse(400, "invalid_payload", json!({}));
    let mut paths = Vec::new();
    for _ in 0..2 {
        let call = server.hears_within(Duration::from_secs(9)).await.unwrap();
        paths.push((call.path().to_owned(), call.body()["job_id"].clone()));
        if call.path() == "/workers/exchange" {
            take(call, &[]);
        } else {
            call.reply(200, json!({}));
        }
    }
    assert!(paths.contains(&("/workers/ack".to_owned(), json!("job-2"))), "{paths:?}");
    assert!(quiet(&mut server).await);
    assert_eq!(handle.held(), 0, "the refused result has failed its job");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_no_longer_offers_it_gets_the_plain_protocol() {
    let (mut server, mut host, _handle) = worker(1, |options| options);
    server.beats_alone();
    server.with_exchange().await;
    take(server.expect("/workers/exchange").await, &jobs([1]));
    let delivery = host.next().await;
    host.finish(delivery, done("1"));
    server.expect("/workers/exchange").await.refuse(404, "not_found", json!({}));
    let mut paths = [
        server.hears_within(Duration::from_secs(9)).await.unwrap().path().to_owned(),
        server.hears_within(Duration::from_secs(9)).await.unwrap().path().to_owned(),
    ];
    paths.sort();
    assert_eq!(paths, ["/workers/ack", "/workers/fetch"]);
}

#[tokio::test(start_paused = true)]
async fn a_long_poll_that_a_stopping_worker_gets_no_answer_to_is_cut_short() {
    let (mut server, _host, handle) = worker(1, |options| options);
    server.beats_alone();
    let mut events = handle.events();
    server.with_exchange().await;
    let _poll = server.expect("/workers/exchange").await;
    let began = Instant::now();
    handle.shutdown(None).await;
    assert!(began.elapsed() >= Duration::from_secs(2), "the answer may be on its way: {:?}", began.elapsed());
    assert!(began.elapsed() <= Duration::from_secs(3), "{:?}", began.elapsed());
    let faults: Vec<_> =
        std::iter::from_fn(|| events.try_recv().ok()).filter(|event| !matches!(event, WorkerEvent::Phase(_))).collect();
    assert!(faults.is_empty(), "{faults:?}");
}

#[tokio::test(start_paused = true)]
async fn what_the_last_long_poll_brings_is_given_back() {
    let (mut server, _host, handle) = worker(1, |options| options);
    server.beats_alone();
    server.with_exchange().await;
    let poll = server.expect("/workers/exchange").await;
    handle.stop(None);
    // The worker says that it stops, the server answers what it had claimed by then.
    assert!(server.hears_within(Duration::from_secs(1)).await.is_none());
    poll.reply(200, json!({"jobs": [job("one")], "results": []}));
    let back = server.expect("/workers/exchange").await;
    assert_eq!(back.body()["outcomes"][0]["requeue"], json!(true), "{}", back.body());
    back.reply(200, json!({"jobs": [], "results": [{"job_id": "one", "state": "available"}]}));
    handle.wait().await;
}

#[tokio::test(start_paused = true)]
async fn a_proxy_that_ends_idle_connections_costs_no_time() {
    let (mut server, _host, handle) = worker(1, |options| options);
    server.beats_alone();
    server.with_exchange().await;
    let mut events = handle.events();
    for fault in 0..4 {
        let poll = server.expect("/workers/exchange").await;
        assert!(server.hears_within(Duration::from_secs(15)).await.is_none());
        match fault % 2 {
            0 => poll.fail(TransportErrorKind::Interrupted),
            _ => poll.reply(504, json!("Gateway Timeout")),
        }
        let cut = Instant::now();
        server.expect("/workers/exchange").await.reply(200, json!({"jobs": []}));
        assert_eq!(cut.elapsed(), Duration::ZERO);
    }
    assert!(events.try_recv().is_err(), "nothing went wrong");
    server.expect("/workers/exchange").await.fail(TransportErrorKind::Interrupted);
    let failed = Instant::now();
    server.expect("/workers/exchange").await;
    assert!(failed.elapsed() >= Duration::from_millis(50), "a connection that breaks at once is a fault");
}

#[tokio::test(start_paused = true)]
async fn directives_come_with_the_exchange_too() {
    let (mut server, _host, handle) = worker(1, |options| options);
    server.beats_alone();
    server.with_exchange().await;
    server
        .expect("/workers/exchange")
        .await
        .reply(200, json!({"jobs": [], "results": [], "state": "quiet", "directive": "quiet"}));
    assert!(quiet(&mut server).await);
    assert_eq!(handle.phase(), Phase::Quiet);
}

async fn quiet(server: &mut Server) -> bool {
    server.hears_within(Duration::from_secs(60)).await.is_none()
}
