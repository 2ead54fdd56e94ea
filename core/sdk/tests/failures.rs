//! What the log says of failed attempts: one record each, with what the server answered.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]
#[path = "support/log.rs"]
mod log;
mod support;

use std::time::Duration;

use log::Log;
use ojs::dispatch::{HandlerFailure, Outcome};
use serde_json::{Value, json};
use support::{done, job, worker};

impl Log {
    /// The records of failures of this test's thread.
    fn start() -> (Self, tracing::subscriber::DefaultGuard) {
        Self::of("ojs::worker::failures=warn")
    }

    /// Of what the filter lets through.
    fn of(filter: &str) -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let subscriber =
            tracing_subscriber::fmt().with_writer(log.clone()).with_env_filter(filter).with_ansi(false).without_time().finish();
        (log, tracing::subscriber::set_default(subscriber))
    }
}

fn boom() -> Outcome {
    let backtrace = vec!["app.py:7 in send".to_owned(), "app.py:3 in connect\n  caused by: refused".to_owned()];
    Outcome::Failed(HandlerFailure { backtrace, ..HandlerFailure::error("ValueError", "no such address") })
}

/// One job with this outcome on a plain server that gives this answer; the log of it.
async fn plain(job: Value, outcome: Outcome, status: u16, answer: Value) -> String {
    let (log, _guard) = Log::start();
    let (mut server, mut host, handle) = worker(1, |options| options);
    server.beats_alone();
    server.plain().await;
    server.hand_out(&[job]).await;
    let delivery = host.next().await;
    host.finish(delivery, outcome);
    loop {
        let call = server.hears_within(Duration::from_secs(600)).await.expect("a report");
        if call.path() != "/workers/fetch" {
            call.reply(status, answer);
            break;
        }
        call.reply(200, json!({"jobs": []}));
    }
    while handle.held() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    log.text()
}

#[tokio::test(start_paused = true)]
async fn a_failed_attempt_is_one_warning_with_its_trace_and_the_next_attempt() {
    let answer = json!({
        "job_id": "a", "state": "retryable", "attempt": 2, "max_attempts": 5,
        "next_attempt_at": "2026-01-01T00:00:01.000Z", "retry_delay_ms": 1500,
    });
    let log = plain(job("a"), boom(), 200, answer).await;
    assert_eq!(
        log,
        " WARN ojs::worker::failures: job failed type=\"email.send\" id=\"a\" queue=\"default\" attempt=2 of 5 \
         runs_again=in 1.5s (2026-01-01T00:00:01.000Z) worker=\"w\" error=ValueError (handler_error): no such address\n\
         \x20   app.py:7 in send\n    app.py:3 in connect\n      caused by: refused\n"
    );
}

#[tokio::test(start_paused = true)]
async fn the_last_attempt_is_an_error() {
    for (outcome, answer, error) in [
        (boom(), json!({"state": "discarded", "attempt": 5, "max_attempts": 5}), "ValueError (handler_error): no such address"),
        (
            Outcome::Failed(HandlerFailure::no_handler("email.send")),
            json!({}),
            "NoHandler (no_handler): No handler is registered for job type 'email.send'. \
             Is the type misspelt? If not, register a handler, then: ojs jobs retry a",
        ),
        (done("NaN"), json!({}), "InvalidResult (invalid_result): The handler's result is not JSON."),
    ] {
        let log = plain(job("a"), outcome, 200, answer).await;
        assert!(log.starts_with("ERROR ojs::worker::failures: job failed for good type=\"email.send\" id=\"a\""), "{log}");
        assert!(log.contains(error) && log.matches("job failed").count() == 1, "{log}");
    }
}

#[tokio::test(start_paused = true)]
async fn time_outs_and_lost_handlers_are_failures() {
    let mut slow = job("a");
    slow["timeout_ms"] = json!(1000);
    let (log, _guard) = Log::start();
    let (mut server, mut host, handle) = worker(1, |options| options);
    server.beats_alone();
    server.plain().await;
    server.hand_out(&[slow]).await;
    let delivery = host.next().await;
    server.expect("/workers/nack").await.reply(200, json!({"state": "retryable"}));
    while handle.held() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let text = log.text();
    assert!(text.contains("WARN ojs::worker::failures: job failed") && text.contains("timeout (timeout)"), "{text}");
    drop(delivery);
    let text = plain(job("b"), Outcome::Abandoned, 200, json!({"state": "retryable"})).await;
    assert!(text.contains("job failed") && text.contains("Abandoned (abandoned)"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_the_server_does_not_take_is_logged_all_the_same() {
    let log = plain(job("a"), boom(), 404, json!({"error": {"code": "not_found", "message": "no such job"}})).await;
    assert!(log.contains("WARN") && log.contains("job failed, and the server did not take the report"), "{log}");
    assert!(log.contains("no such job") && log.contains("no such address") && log.lines().count() == 4, "{log}");
}

#[tokio::test(start_paused = true)]
async fn a_lost_lease_is_logged_and_arguments_never_are() {
    let (log, _guard) = Log::start();
    let (mut server, mut host, _handle) = worker(1, |options| options);
    server.plain().await;
    let mut held = job("a");
    (held["lease_token"], held["args"]) = (json!(7), json!(["planted-secret"]));
    server.hand_out(&[held]).await;
    let delivery = host.next().await;
    server.beat().await.reply(200, json!({"state": "running", "jobs_extended": []}));
    host.cancelled().await;
    let text = log.text();
    assert!(text.contains("WARN ojs::worker::failures: job failed type=\"email.send\" id=\"a\""), "{text}");
    assert!(text.contains("LeaseLost (lease_lost)") && !text.contains("planted-secret"), "{text}");
    drop(delivery);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_failure_is_not_logged() {
    for outcome in [done("1"), Outcome::Released, Outcome::Snoozed(Duration::from_secs(1))] {
        let log = plain(job("a"), outcome, 200, json!({"state": "available"})).await;
        assert_eq!(log, "");
    }
}

#[tokio::test(start_paused = true)]
async fn an_exchange_says_the_same() {
    let (log, _guard) = Log::start();
    let (mut server, mut host, handle) = worker(1, |options| options);
    server.beats_alone();
    server.with_exchange().await;
    server.expect("/workers/exchange").await.reply(200, json!({"results": [], "jobs": [job("a")]}));
    let delivery = host.next().await;
    host.finish(delivery, boom());
    let result = json!({
        "job_id": "a", "state": "retryable", "attempt": 1, "max_attempts": 3,
        "next_attempt_at": "2026-01-01T00:00:01.000Z", "retry_delay_ms": 1000,
    });
    server.expect("/workers/exchange").await.reply(200, json!({"results": [result], "jobs": []}));
    while handle.held() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let text = log.text();
    assert!(text.contains("job failed") && text.contains("attempt=1 of 3 runs_again=in 1s (2026-01-01"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_is_given_up_at_the_end_is_an_error_that_says_what_becomes_of_the_job() {
    let (log, _guard) = Log::start();
    let (mut server, mut host, handle) = worker(2, |options| options.flush_timeout(Duration::from_secs(4)));
    server.beats_alone();
    server.plain().await;
    server.hand_out(&[job("refused"), job("unanswered")]).await;
    let jobs = [host.next().await, host.next().await];
    handle.stop(None);
    for delivery in jobs {
        host.finish(delivery, done("1"));
    }
    // One report is on its way when the worker ends, the other one waits to be sent again.
    let mut unanswered = Vec::new();
    loop {
        tokio::select! {
            ack = server.expect("/workers/ack") => match ack.body()["job_id"].as_str() {
                Some("refused") => ack.fail(ojs::transport::TransportErrorKind::Connect),
                _ => unanswered.push(ack),
            },
            () = handle.wait() => break,
        }
    }
    let log = log.text();
    assert_eq!(unanswered.len(), 1);
    for id in ["refused", "unanswered"] {
        let line = log.lines().find(|line| line.contains(&format!("id=\"{id}\""))).unwrap_or_else(|| panic!("{id} in {log}"));
        assert!(
            line.starts_with("ERROR ojs::worker::failures: the worker stops before the server has confirmed the outcome"),
            "{line}"
        );
        assert!(line.contains("the job runs again when its lease is over") && line.contains("lease_left="), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_end_that_running_jobs_hold_up_says_so_once() {
    let (log, _guard) = Log::of("ojs::worker=warn");
    let (mut server, mut host, handle) = worker(1, |options| options);
    server.beats_alone();
    server.plain().await;
    server.hand_out(&[job("a")]).await;
    let delivery = host.next().await;
    handle.stop(None);
    assert!(server.hears_within(Duration::from_secs(12)).await.is_none());
    let text = log.text();
    assert!(text.contains("WARN ojs::worker::drain: stopping, and waiting for running jobs worker="), "{text}");
    assert!(text.contains("running=1 for_at_most=24s") && text.lines().count() == 1, "{text}");
    host.finish(delivery, done("1"));
    server.expect("/workers/ack").await.reply(200, json!({}));
    handle.wait().await;
}
