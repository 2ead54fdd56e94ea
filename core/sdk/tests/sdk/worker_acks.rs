//! Outcomes get through, or are given up for a good reason; a success never becomes a failure on the way.
use std::time::Duration;

use crate::support::{Host, Server, done, job, worker};
use ojs::dispatch::{CancelReason, Outcome};
use ojs::transport::TransportErrorKind;
use ojs::worker::{WorkerEvent, WorkerHandle};
use serde_json::json;
use tokio::time::Instant;

/// A worker whose only slot has just finished job `a`; the ack is on its way.
async fn acking() -> (Server, Host, WorkerHandle) {
    let (mut server, mut host, handle) = worker(1, |options| options);
    server.plain().await;
    server.hand_out(&[job("a")]).await;
    let delivery = host.next().await;
    handle.quiet();
    host.finish(delivery, done("1"));
    (server, host, handle)
}

async fn lost(handle: &WorkerHandle, events: &mut tokio::sync::broadcast::Receiver<WorkerEvent>) -> String {
    loop {
        if let WorkerEvent::OutcomeLost { job_id, error } = events.recv().await.unwrap() {
            assert_eq!(job_id, "a");
            assert_eq!(handle.held(), 0);
            return error.to_string();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_ack_is_sent_until_the_server_has_it() {
    let (mut server, _host, handle) = acking().await;
    let mut bodies = Vec::new();
    for fault in 0..4 {
        let ack = server.expect("/workers/ack").await;
        bodies.push(ack.body());
        match fault {
            0 => ack.fail(TransportErrorKind::Timeout),
            1 => ack.refuse(503, "backend_unavailable", json!({})),
            2 => ack.reply(502, json!("a proxy's page")),
            _ => ack.reply(200, json!({})),
        }
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "the outcome is fixed: {bodies:?}");
    assert!(server.hears_within(Duration::from_secs(120)).await.is_none());
    assert_eq!(handle.held(), 0);
}

#[tokio::test(start_paused = true)]
async fn completed_after_an_unclear_send_is_success() {
    let (mut server, _host, handle) = acking().await;
    let mut events = handle.events();
    server.expect("/workers/ack").await.fail(TransportErrorKind::Interrupted);
    server.expect("/workers/ack").await.refuse(409, "conflict", json!({"current_state": "completed"}));
    assert!(server.hears_within(Duration::from_secs(120)).await.is_none());
    assert_eq!(handle.held(), 0);
    while let Ok(event) = events.try_recv() {
        assert!(!matches!(event, WorkerEvent::OutcomeLost { .. }));
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_ack_is_dropped_and_told() {
    for (status, code, details) in [
        (409, "conflict", json!({"reason": "stale_lease", "current_state": "active"})),
        (409, "conflict", json!({"current_state": "completed"})),
        (409, "invalid_state_transition", json!({})),
        (404, "not_found", json!({})),
    ] {
        let (mut server, _host, handle) = acking().await;
        let mut events = handle.events();
        server.expect("/workers/ack").await.refuse(status, code, details);
        lost(&handle, &mut events).await;
        assert!(server.hears_within(Duration::from_secs(120)).await.is_none(), "sent again after {code}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_that_the_server_cannot_store_fails_the_job_for_good() {
    let (mut server, _host, handle) = acking().await;
    server.expect("/workers/ack").await.refuse(413, "result_too_large", json!({}));
    let nack = server.expect("/workers/nack").await;
    assert_eq!(
        (nack.body()["error"]["code"].clone(), nack.body()["error"]["retryable"].clone()),
        (json!("result_too_large"), json!(false))
    );
    nack.reply(200, json!({}));
    assert!(server.hears_within(Duration::from_secs(120)).await.is_none());
    assert_eq!(handle.held(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_ack_is_given_up_when_the_lease_has_run_out() {
    let (mut server, _host, handle) = acking().await;
    let mut events = handle.events();
    let began = Instant::now();
    // Heartbeats are not answered either: the lease cannot be extended.
    let error = loop {
        tokio::select! {
            call = server.expect("/workers/ack") => call.fail(TransportErrorKind::Connect),
            error = lost(&handle, &mut events) => break error,
        }
    };
    assert!(error.contains("the test says so"), "{error}");
    assert!((Duration::from_secs(30)..Duration::from_secs(40)).contains(&began.elapsed()), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn heartbeats_keep_an_undelivered_outcome_alive() {
    let (mut server, _host, handle) = acking().await;
    let beats = server.beats_alone();
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(90) {
        server.expect("/workers/ack").await.fail(TransportErrorKind::Connect);
    }
    server.expect("/workers/ack").await.reply(200, json!({}));
    assert!(server.hears_within(Duration::from_secs(10)).await.is_none());
    assert_eq!(handle.held(), 0);
    assert!(beats.lock().unwrap().iter().any(|beat| beat["active_job_ids"] == json!(["a"])));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_completion_is_reported() {
    let (mut server, mut host, _handle) = worker(1, |options| options);
    server.plain().await;
    server.hand_out(&[job("a")]).await;
    drop(host.next().await);
    assert_eq!(server.expect("/workers/nack").await.body()["error"]["code"], "abandoned");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_panics_loses_the_batch_not_the_worker() {
    let (mut server, mut host, handle) = worker(2, |options| options);
    let mut events = handle.events();
    server.plain().await;
    server.hand_out(&[job("bomb"), job("b")]).await;
    for _ in 0..2 {
        let nack = server.expect("/workers/nack").await;
        assert_eq!(nack.body()["error"]["code"], "abandoned");
        nack.reply(200, json!({}));
    }
    let restarted = async {
        loop {
            if let WorkerEvent::Restarted { part, .. } = events.recv().await.unwrap() {
                return part;
            }
        }
    };
    assert_eq!(restarted.await, "dispatch");
    assert!(server.hears_within(Duration::from_secs(1)).await.is_none());
    assert_eq!(handle.held(), 0);
    assert!(host.deliveries.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_takes_too_long_is_stopped_and_failed() {
    let (mut server, mut host, _handle) = worker(1, |options| options);
    server.plain().await;
    let mut short = job("a");
    short["timeout_ms"] = json!(2000);
    let began = Instant::now();
    server.hand_out(&[short]).await;
    let delivery = host.next().await;
    assert!(delivery.deadline.is_some());
    assert_eq!(host.cancelled().await, (delivery.key, CancelReason::TimedOut));
    assert_eq!(began.elapsed(), Duration::from_secs(2));
    let nack = server.expect("/workers/nack").await;
    let error = nack.body()["error"].clone();
    assert_eq!((&error["code"], &error["type"], &error["retryable"]), (&json!("timeout"), &json!("timeout"), &json!(true)));
    nack.reply(200, json!({}));
    // The handler ends at last: its outcome comes too late, its slot is free.
    host.finish(delivery, Outcome::Completed { result: None });
    server.expect("/workers/fetch").await;
}
