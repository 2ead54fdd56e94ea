//! A worker against a server that speaks the plain protocol only.
use std::time::Duration;

use crate::support::{done, job, worker};
use ojs::dispatch::{HandlerFailure, Outcome};
use ojs::transport::TransportErrorKind;
use ojs::worker::WorkerEvent;
use serde_json::{Value, json};
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn fetch_and_ack_are_the_requests_of_the_seed() {
    let (mut server, mut host, _handle) = worker(5, |options| options);
    server.plain().await;
    let fetch = server.expect("/workers/fetch").await;
    assert_eq!(fetch.body(), json!({"queues": ["default"], "count": 5, "worker_id": "w", "visibility_timeout_ms": 30000}));
    fetch.reply(200, json!({"jobs": [job("a")]}));
    let delivery = host.next().await;
    assert_eq!((delivery.id.as_str(), delivery.job_type.as_str(), delivery.attempt), ("a", "email.send", 1));
    assert!(String::from_utf8_lossy(&delivery.envelope).contains("\"args\":[1.0]"), "numbers keep their digits");
    host.finish(delivery, done(r#"{"delivered":true}"#));
    // A fetch for the other slots may go out before the ack.
    let mut call = server.hears_within(Duration::from_secs(1)).await.unwrap();
    if call.path() == "/workers/fetch" {
        call = server.expect("/workers/ack").await;
    }
    assert_eq!(call.body(), json!({"job_id": "a", "worker_id": "w", "result": {"delivered": true}}));
}

#[tokio::test(start_paused = true)]
async fn every_outcome_has_its_request() {
    let failure =
        HandlerFailure { details: Some(json!({"stack": "…"})), ..HandlerFailure::error("IOError", "Connection refused") };
    let failed = |code: &str, kind: &str, message: &str, retryable: bool| json!({"code": code, "type": kind, "message": message, "retryable": retryable, "details": {"error_class": kind}});
    let mut refused = failed("handler_error", "IOError", "Connection refused", true);
    refused["details"]["stack"] = json!("…");
    let released = |why: &str| json!({"code": why, "type": why, "message": "Given back by the worker.", "retryable": true});
    let mut snoozed = released("snooze");
    snoozed["details"] = json!({"snooze_ms": 1500});
    let cases: Vec<(Outcome, &str, Value)> = vec![
        (Outcome::Completed { result: None }, "/workers/ack", json!({})),
        (done("null"), "/workers/ack", json!({})),
        (done("[1]"), "/workers/ack", json!({"result": [1]})),
        (Outcome::Failed(failure), "/workers/nack", json!({"error": refused})),
        (
            Outcome::Failed(HandlerFailure::no_handler("x.y")),
            "/workers/nack",
            json!({"error": failed("no_handler", "NoHandler", "No handler is registered for job type 'x.y'.", false)}),
        ),
        (Outcome::Released, "/workers/nack", json!({"requeue": true, "error": released("shutdown")})),
        (
            Outcome::Snoozed(Duration::from_millis(1500)),
            "/workers/nack",
            json!({"requeue": true, "delay_ms": 1500, "error": snoozed}),
        ),
        (
            Outcome::Abandoned,
            "/workers/nack",
            json!({"error": failed("abandoned", "Abandoned", "The handler was lost without reporting an outcome.", true)}),
        ),
        (
            done("NaN"),
            "/workers/nack",
            json!({"error": failed("invalid_result", "InvalidResult", "The handler's result is not JSON.", false)}),
        ),
    ];
    let (mut server, mut host, _handle) = worker(1, |options| options);
    server.plain().await;
    for (outcome, path, expected) in cases {
        server.hand_out(&[job("a")]).await;
        let delivery = host.next().await;
        host.finish(delivery, outcome);
        let report = server.expect(path).await;
        let mut expected = expected;
        expected["job_id"] = json!("a");
        expected["worker_id"] = json!("w");
        assert_eq!(report.body(), expected);
        report.reply(200, json!({}));
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_token_travels_with_the_outcome() {
    let (mut server, mut host, _handle) = worker(1, |options| options);
    server.plain().await;
    let mut leased = job("a");
    leased["lease_token"] = json!(7);
    server.hand_out(&[leased]).await;
    let delivery = host.next().await;
    host.finish(delivery, Outcome::Completed { result: None });
    assert_eq!(server.expect("/workers/ack").await.body(), json!({"job_id": "a", "worker_id": "w", "lease_token": 7}));
}

#[tokio::test(start_paused = true)]
async fn a_full_worker_wakes_when_a_slot_frees_not_by_the_clock() {
    let (mut server, mut host, _handle) = worker(1, |options| options);
    server.plain().await;
    server.hand_out(&[job("a")]).await;
    let delivery = host.next().await;
    assert!(server.hears_within(Duration::from_secs(60)).await.is_none(), "a full worker must not fetch");
    let freed = Instant::now();
    host.finish(delivery, Outcome::Completed { result: None });
    let ack = server.expect("/workers/ack").await;
    server.expect("/workers/fetch").await;
    assert_eq!(freed.elapsed(), Duration::ZERO);
    ack.reply(200, json!({}));
}

#[tokio::test(start_paused = true)]
async fn empty_fetches_come_less_and_less_often_until_there_is_work() {
    let (mut server, mut host, _handle) = worker(1, |options| options);
    server.beats_alone();
    server.plain().await;
    let mut pauses = Vec::new();
    for _ in 0..8 {
        server.hand_out(&[]).await;
        let before = Instant::now();
        let fetch = server.expect("/workers/fetch").await;
        pauses.push(before.elapsed().as_millis());
        fetch.reply(200, json!({"jobs": []}));
        let again = server.expect("/workers/fetch").await;
        again.reply(200, json!({"jobs": [job("a")]}));
        let delivery = host.next().await;
        host.finish(delivery, Outcome::Completed { result: None });
        server.expect("/workers/ack").await.reply(200, json!({}));
    }
    // The timer counts whole milliseconds, and ends with the one after.
    assert!(pauses.iter().all(|pause| (25..=51).contains(pause)), "work resets the pause: {pauses:?}");
    let mut pauses = Vec::new();
    for _ in 0..9 {
        let before = Instant::now();
        server.hand_out(&[]).await;
        pauses.push(before.elapsed().as_millis());
    }
    for (pause, step) in pauses.iter().zip([0, 50, 100, 200, 400, 800, 1600, 2000, 2000]) {
        assert!((step / 2..=step + 1).contains(pause), "{pauses:?}");
    }
    assert!(pauses.windows(2).any(|pair| pair[1] != pair[0] * 2 && pair[1] != pair[0]), "the pauses are spread: {pauses:?}");
}

#[tokio::test(start_paused = true)]
async fn a_queue_with_work_is_fetched_from_again_at_once() {
    let (mut server, mut host, _handle) = worker(1, |options| options);
    server.beats_alone();
    server.plain().await;
    let began = Instant::now();
    for _ in 0..20 {
        server.hand_out(&[job("a")]).await;
        let delivery = host.next().await;
        host.finish(delivery, Outcome::Completed { result: None });
        server.expect("/workers/ack").await.reply(200, json!({}));
    }
    assert!(began.elapsed() < Duration::from_millis(100), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_enqueue_of_this_process_ends_the_pause_of_an_idle_worker() {
    let (transport, mut server) = crate::support::server();
    let (_host, dispatch) = crate::support::Host::new(1);
    let options = ojs::worker::WorkerOptions::default().worker_id("w");
    let _handle = ojs::worker::WorkerDriver::start(transport.clone(), options, dispatch);
    let client = ojs::Client::new(transport);
    server.beats_alone();
    server.plain().await;
    // Idle until the pauses are the longest ones.
    for _ in 0..12 {
        server.hand_out(&[]).await;
    }
    assert!(server.hears_within(Duration::from_millis(200)).await.is_none(), "the pause is longer");
    let enqueue = tokio::spawn(async move {
        let job = client.enqueue("email.send", 1).await;
        (client, job)
    });
    server.expect("/jobs").await.reply(201, json!({"job": job("a")}));
    let before = Instant::now();
    let fetch = server.expect("/workers/fetch").await;
    assert!(before.elapsed() <= Duration::from_millis(1), "at once: {:?}", before.elapsed());
    let (client, stored) = enqueue.await.unwrap();
    assert_eq!(stored.unwrap().id, "a");
    // A job that comes while a fetch is out may be too late for it: the next one follows after the shortest pause.
    let enqueue = tokio::spawn(async move { client.enqueue("email.send", 2).await });
    server.expect("/jobs").await.reply(201, json!({"job": job("b")}));
    enqueue.await.unwrap().unwrap();
    let before = Instant::now();
    fetch.reply(200, json!({"jobs": []}));
    server.expect("/workers/fetch").await;
    assert!(before.elapsed() <= Duration::from_millis(51), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_enqueue_does_not_end_the_pause_after_a_fault() {
    let (transport, mut server) = crate::support::server();
    let (_host, dispatch) = crate::support::Host::new(1);
    let _handle = ojs::worker::WorkerDriver::start(transport.clone(), ojs::worker::WorkerOptions::default(), dispatch);
    let client = ojs::Client::new(transport);
    server.beats_alone();
    server.plain().await;
    let mut busy = ojs::transport::Response::new(429, r#"{"error":{"code":"rate_limited","message":"slow down"}}"#);
    busy.retry_after = Some(Duration::from_secs(45));
    server.expect("/workers/fetch").await.answer_with(Ok(busy));
    let enqueue = tokio::spawn(async move { client.enqueue("email.send", 1).await });
    let before = Instant::now();
    server.expect("/jobs").await.reply(201, json!({"job": job("a")}));
    enqueue.await.unwrap().unwrap();
    server.expect("/workers/fetch").await;
    assert!(before.elapsed() >= Duration::from_secs(44), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_failing_server_is_asked_less_and_less_often() {
    let (mut server, _host, handle) = worker(1, |options| options);
    let mut events = handle.events();
    server.beats_alone();
    server.plain().await;
    let mut last = Duration::ZERO;
    for turn in 0..12 {
        let before = Instant::now();
        server.expect("/workers/fetch").await.fail(TransportErrorKind::Connect);
        last = before.elapsed();
        assert!(last <= Duration::from_secs(31), "turn {turn}: {last:?}");
    }
    assert!(last >= Duration::from_secs(14), "{last:?}");
    assert!(matches!(events.recv().await.unwrap(), WorkerEvent::Phase(_)));
    assert!(matches!(events.recv().await.unwrap(), WorkerEvent::FetchFailed(_)));
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_respected() {
    let (mut server, _host, _handle) = worker(1, |options| options);
    server.beats_alone();
    server.plain().await;
    let mut busy = ojs::transport::Response::new(429, r#"{"error":{"code":"rate_limited","message":"slow down"}}"#);
    busy.retry_after = Some(Duration::from_secs(45));
    let before = Instant::now();
    server.expect("/workers/fetch").await.answer_with(Ok(busy));
    server.expect("/workers/fetch").await;
    assert!(before.elapsed() >= Duration::from_secs(45));
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_manifest_is_asked_for_again() {
    let (mut server, _host, _handle) = worker(1, |options| options);
    server.expect("/ojs/manifest").await.fail(TransportErrorKind::Connect);
    server.expect("/workers/fetch").await.reply(200, json!({"jobs": []}));
    loop {
        let call = server.hears_within(Duration::from_secs(60)).await.unwrap();
        match call.path() {
            "/ojs/manifest" => call.reply(200, json!({"extensions": ["x-worker-exchange"]})),
            "/workers/exchange" => break,
            _ => call.reply(200, json!({"jobs": []})),
        }
    }
}
