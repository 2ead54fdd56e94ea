//! Heartbeats: forms, directives, cancelled and lost jobs.
use std::time::Duration;

use crate::support::{job, worker};
use ojs::dispatch::{CancelReason, Outcome, Phase};
use ojs::transport::TransportErrorKind;
use ojs::worker::Beat;
use serde_json::json;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn the_form_of_the_seed() {
    let (mut server, mut host, _handle) = worker(2, |options| options);
    server.plain().await;
    server.hand_out(&[job("job-1"), job("job-2")]).await;
    let began = Instant::now();
    let beat = server.beat().await;
    assert_eq!(began.elapsed(), Duration::from_secs(5));
    assert_eq!(
        beat.body(),
        json!({"worker_id": "w", "state": "running", "active_jobs": 2, "active_job_ids": ["job-1", "job-2"]})
    );
    beat.reply(200, json!({"state": "running"}));
    let first = host.next().await;
    host.finish(first, Outcome::Completed { result: None });
    server.expect("/workers/ack").await.reply(200, json!({}));
    assert_eq!(server.beat().await.body()["active_job_ids"], json!(["job-2"]));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_shows_workers_to_operators_is_told_who_this_one_is() {
    let (mut server, _host, _handle) = worker(2, |options| options);
    server.with_exchange().await;
    let body = server.beat().await.body();
    assert_eq!((&body["pid"], &body["concurrency"]), (&json!(std::process::id()), &json!(2)));
    assert!(body["version"].as_str().unwrap().starts_with("ojs-rust/") && body["queues"].is_array(), "{body}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_wants_a_list_gets_it_from_then_on() {
    let (mut server, _host, _handle) = worker(1, |options| options);
    server.plain().await;
    server.hand_out(&[job("a")]).await;
    server.beat().await.refuse(400, "invalid_request", json!({}));
    let list = json!({"worker_id": "w", "state": "running", "active_jobs": ["a"], "active_job_ids": ["a"]});
    let second = server.beat().await;
    assert_eq!(second.body(), list);
    second.reply(200, json!({"state": "active", "directive": "continue"}));
    let next = server.beat().await;
    assert_eq!(next.body(), list, "remembered");
    next.refuse(400, "invalid_request", json!({}));
    assert_eq!(server.beat().await.body(), list, "a 400 to the list is just a failure");
}

#[tokio::test(start_paused = true)]
async fn lease_tokens_are_named() {
    let (mut server, _host, _handle) = worker(1, |options| options);
    server.plain().await;
    let mut leased = job("a");
    leased["lease_token"] = json!(9);
    server.hand_out(&[leased]).await;
    assert_eq!(server.beat().await.body()["lease_tokens"], json!({"a": 9}));
}

#[tokio::test(start_paused = true)]
async fn quiet_stops_fetching_and_goes_on_beating() {
    for answer in [json!({"state": "quiet"}), json!({"state": "active", "directive": "quiet"})] {
        let (mut server, mut host, handle) = worker(2, |options| options);
        server.plain().await;
        server.hand_out(&[job("a")]).await;
        let fetch = server.expect("/workers/fetch").await;
        server.beat().await.reply(200, answer);
        let beat = server.beat().await;
        assert_eq!((beat.body()["state"].clone(), handle.phase()), (json!("quiet"), Phase::Quiet));
        beat.reply(200, json!({"state": "running"}));
        fetch.reply(200, json!({"jobs": [job("late")]}));
        let report = server.expect("/workers/nack").await;
        assert_eq!(
            (report.body()["job_id"].clone(), report.body()["requeue"].clone()),
            (json!("late"), json!(true)),
            "given back"
        );
        report.reply(200, json!({}));
        let running = host.next().await;
        host.finish(running, Outcome::Completed { result: None });
        server.expect("/workers/ack").await.reply(200, json!({}));
        server.beat().await.reply(200, json!({"state": "running"}));
        assert_eq!(handle.phase(), Phase::Quiet, "running means no change");
        handle.resume();
        server.expect("/workers/fetch").await;
    }
}

#[tokio::test(start_paused = true)]
async fn words_that_are_not_known_mean_go_on() {
    let (mut server, _host, handle) = worker(1, |options| options);
    server.plain().await;
    for answer in [json!({"state": "dancing", "directive": "sing"}), json!({}), json!({"ok": true, "state": null})] {
        server.beat().await.reply(200, answer);
        assert_eq!(handle.phase(), Phase::Running);
    }
    server.beat().await.fail(TransportErrorKind::Timeout);
    server.beat().await.reply(500, json!({}));
    server.beat().await;
    assert_eq!(handle.phase(), Phase::Running, "a failed heartbeat never changes the state");
}

#[tokio::test(start_paused = true)]
async fn terminate_stops_the_worker() {
    let (mut server, mut host, handle) = worker(1, |options| options);
    server.plain().await;
    server.hand_out(&[job("a")]).await;
    let delivery = host.next().await;
    server.beat().await.reply(200, json!({"state": "terminate"}));
    let told = server.beat().await;
    assert_eq!((told.body()["state"].clone(), handle.phase()), (json!("terminate"), Phase::Draining));
    told.reply(200, json!({"state": "terminate"}));
    assert_eq!(handle.phase(), Phase::Draining, "told again is not a second stop");
    host.finish(delivery, Outcome::Completed { result: None });
    server.expect("/workers/ack").await.reply(200, json!({}));
    let last = server.beat().await;
    assert_eq!(last.body(), json!({"worker_id": "w", "state": "terminate", "active_jobs": 0, "active_job_ids": []}));
    last.reply(200, json!({}));
    handle.wait().await;
    let mut phases = Vec::new();
    while let Ok(phase) = host.phases.try_recv() {
        phases.push(phase);
    }
    assert_eq!(phases, [Phase::Running, Phase::Draining, Phase::Stopped]);
}

#[tokio::test(start_paused = true)]
async fn handlers_of_cancelled_and_lost_jobs_are_stopped() {
    let (mut server, mut host, _handle) = worker(3, |options| options);
    server.plain().await;
    let jobs: Vec<_> = ["kept", "cancelled", "lost"]
        .into_iter()
        .zip(1..)
        .map(|(id, token)| {
            let mut job = job(id);
            job["lease_token"] = json!(token);
            job
        })
        .collect();
    server.hand_out(&jobs).await;
    let (_kept, cancelled, lost) = (host.next().await, host.next().await, host.next().await);
    server.beat().await.reply(200, json!({"state": "running", "jobs_extended": ["kept"], "cancelled_jobs": ["cancelled"]}));
    assert_eq!(host.cancelled().await, (cancelled.key, CancelReason::Cancelled));
    assert_eq!(host.cancelled().await, (lost.key, CancelReason::LeaseLost));
    server.beat().await.reply(200, json!({"state": "running", "jobs_extended": ["kept"], "cancelled_jobs": ["cancelled"]}));
    server.beat().await;
    assert!(host.cancels.try_recv().is_err(), "once is enough");
}

#[tokio::test(start_paused = true)]
async fn servers_without_tokens_are_not_trusted_to_list_every_job() {
    let (mut server, mut host, _handle) = worker(1, |options| options);
    server.plain().await;
    server.hand_out(&[job("a")]).await;
    server.beat().await.reply(200, json!({"state": "running", "jobs_extended": []}));
    server.beat().await;
    assert!(host.cancels.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_beat_for_itself() {
    let (mut server, mut host, handle) = worker(1, |options| options);
    server.plain().await;
    server.hand_out(&[job("a")]).await;
    let delivery = host.next().await;
    let key = delivery.key;
    let answer = async { server.beat().await.reply(200, json!({"state": "running", "cancelled_jobs": ["a"]})) };
    let (beat, ()) = tokio::join!(handle.heartbeat(key), answer);
    assert_eq!(beat.unwrap(), Beat::Cancelled(CancelReason::Cancelled));
    host.finish(delivery, Outcome::Completed { result: None });
    server.expect("/workers/ack").await.reply(200, json!({}));
    server.expect("/workers/fetch").await;
    assert!(matches!(handle.heartbeat(key).await, Err(ojs::Error::NotHeld)));
}
