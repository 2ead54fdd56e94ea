//! Shutdown: wait, cancel, release, deliver, say good-bye (protocol section 5.7).
use std::time::Duration;

use crate::support::{Host, Server, done, job, worker};
use ojs::dispatch::{CancelReason, HandlerFailure, Outcome, Phase};
use ojs::worker::WorkerEvent;
use serde_json::json;
use tokio::time::Instant;

const GRACE: Duration = Duration::from_secs(25);

/// A worker with one running job, told to stop.
async fn stopping(release: bool) -> (Server, Host, ojs::worker::WorkerHandle, ojs::dispatch::Delivery) {
    let (mut server, mut host, handle) = worker(1, |options| options.release_on_shutdown(release));
    server.plain().await;
    server.hand_out(&[job("a")]).await;
    let delivery = host.next().await;
    handle.stop(None);
    (server, host, handle, delivery)
}

#[tokio::test(start_paused = true)]
async fn an_idle_worker_stops_at_once() {
    let (mut server, mut host, handle) = worker(1, |options| options);
    let beats = server.beats_alone();
    server.plain().await;
    server.hand_out(&[]).await;
    let began = Instant::now();
    handle.shutdown(None).await;
    assert_eq!((began.elapsed(), handle.phase()), (Duration::ZERO, Phase::Stopped));
    assert_eq!(beats.lock().unwrap().last().unwrap()["state"], "terminate");
    assert_eq!(
        [host.phases.recv().await, host.phases.recv().await, host.phases.recv().await],
        [Some(Phase::Running), Some(Phase::Draining), Some(Phase::Stopped)]
    );
}

#[tokio::test(start_paused = true)]
async fn running_jobs_may_finish_and_are_kept_alive() {
    let (mut server, host, handle, delivery) = stopping(true).await;
    let beats = server.beats_alone();
    assert!(server.hears_within(Duration::from_secs(20)).await.is_none(), "no fetch while draining");
    host.finish(delivery, done("1"));
    let ack = server.expect("/workers/ack").await;
    assert!(server.hears_within(Duration::from_secs(2)).await.is_none());
    assert_eq!(handle.phase(), Phase::Draining, "not before the outcome is delivered");
    ack.reply(200, json!({}));
    handle.wait().await;
    let beats = beats.lock().unwrap();
    assert!(beats.len() >= 5, "heartbeats go on through the drain: {beats:?}");
    assert!(beats.iter().all(|beat| beat["state"] == "terminate"));
    assert_eq!(beats.last().unwrap()["active_job_ids"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn after_the_grace_period_jobs_are_given_back() {
    let (mut server, mut host, handle, delivery) = stopping(true).await;
    let mut events = handle.events();
    server.beats_alone();
    let began = Instant::now();
    assert_eq!(host.cancelled().await, (delivery.key, CancelReason::Shutdown));
    assert!((GRACE - Duration::from_secs(1)..GRACE).contains(&began.elapsed()), "a little before the end: {:?}", began.elapsed());
    let nack = server.expect("/workers/nack").await;
    assert_eq!(began.elapsed(), GRACE);
    assert_eq!((nack.body()["requeue"].clone(), nack.body()["error"]["code"].clone()), (json!(true), json!("shutdown")));
    nack.reply(200, json!({}));
    handle.wait().await;
    // Too late: the worker has ended.
    host.finish(delivery, done("1"));
    assert!(server.hears_within(Duration::from_secs(60)).await.is_none());
    assert!(std::iter::from_fn(|| events.try_recv().ok()).any(|event| matches!(event, WorkerEvent::Released { jobs: 1 })));
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_obeys_the_cancel_is_no_failure() {
    let (mut server, mut host, handle, delivery) = stopping(true).await;
    server.beats_alone();
    host.cancelled().await;
    host.finish(delivery, Outcome::Failed(HandlerFailure::error("CancelledError", "stopped")));
    let nack = server.expect("/workers/nack").await;
    assert_eq!(nack.body()["requeue"], true, "the attempt is not charged");
    nack.reply(200, json!({}));
    handle.wait().await;
}

#[tokio::test(start_paused = true)]
async fn without_release_the_lease_decides() {
    let (mut server, _host, handle, _delivery) = stopping(false).await;
    server.beats_alone();
    let began = Instant::now();
    handle.wait().await;
    assert_eq!(began.elapsed(), GRACE);
    assert!(server.hears_within(Duration::from_secs(1)).await.is_none(), "nothing is said");
}

#[tokio::test(start_paused = true)]
async fn a_second_stop_ends_the_grace_period() {
    let (mut server, mut host, handle, _delivery) = stopping(true).await;
    server.beats_alone();
    let began = Instant::now();
    handle.stop(None);
    assert_eq!(host.cancelled().await.1, CancelReason::Shutdown);
    server.expect("/workers/nack").await.reply(200, json!({}));
    handle.wait().await;
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_grace_period_of_the_call_counts() {
    let (mut server, mut host, handle) = worker(1, |options| options);
    server.beats_alone();
    server.plain().await;
    server.hand_out(&[job("a")]).await;
    let _delivery = host.next().await;
    let began = Instant::now();
    handle.stop(Some(Duration::from_secs(4)));
    server.expect("/workers/nack").await.reply(200, json!({}));
    assert_eq!(began.elapsed(), Duration::from_secs(4));
    handle.wait().await;
}

#[tokio::test(start_paused = true)]
async fn outcomes_are_sent_again_after_the_grace_period_for_as_long_as_the_flush_timeout() {
    let second = Duration::from_secs(1);
    for (set, lease, flush) in [
        (None, Some(30 * second), 30 * second),
        (None, Some(10 * second), 10 * second),
        (None, None, 30 * second),
        (None, Some(3600 * second), 30 * second),
        (Some(4 * second), Some(30 * second), 4 * second),
        (Some(50 * second), Some(30 * second), 50 * second),
    ] {
        let (mut server, mut host, handle) = worker(1, |options| options.flush_timeout(set).visibility_timeout(lease));
        server.plain().await;
        server.hand_out(&[job("a")]).await;
        let delivery = host.next().await;
        handle.stop(None);
        // The lease is extended all the time: the end is that of the flush.
        server.beats_alone();
        host.finish(delivery, done("1"));
        let began = Instant::now();
        loop {
            tokio::select! {
                ack = server.expect("/workers/ack") => ack.fail(ojs::transport::TransportErrorKind::Connect),
                () = handle.wait() => break,
            }
        }
        let end = GRACE + flush;
        assert!((end..end + second).contains(&began.elapsed()), "{set:?} {lease:?}: {:?}", began.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn an_outcome_whose_lease_is_over_is_given_up_before_the_flush_timeout() {
    let (mut server, mut host, handle) = worker(1, |options| options.flush_timeout(Duration::from_secs(3600)));
    server.plain().await;
    server.hand_out(&[job("a")]).await;
    let delivery = host.next().await;
    handle.stop(None);
    host.finish(delivery, done("1"));
    let began = Instant::now();
    // Nothing arrives, heartbeats neither: the lease ends 30 seconds after the fetch.
    loop {
        tokio::select! {
            ack = server.expect("/workers/ack") => ack.fail(ojs::transport::TransportErrorKind::Connect),
            () = handle.wait() => break,
        }
    }
    let end = Duration::from_secs(30);
    assert!((end..end + Duration::from_secs(30)).contains(&began.elapsed()), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn jobs_that_arrive_during_the_stop_are_given_back() {
    let (mut server, _host, handle) = worker(1, |options| options);
    server.beats_alone();
    server.plain().await;
    let fetch = server.expect("/workers/fetch").await;
    handle.stop(None);
    fetch.reply(200, json!({"jobs": [job("late")]}));
    let nack = server.expect("/workers/nack").await;
    assert_eq!((nack.body()["job_id"].clone(), nack.body()["requeue"].clone()), (json!("late"), json!(true)));
    nack.reply(200, json!({}));
    handle.wait().await;
}
