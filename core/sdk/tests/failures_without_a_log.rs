//! A program that has set up no `tracing` subscriber: failed attempts are on stderr all the same.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed unwrap is a failed test")]
#![cfg(feature = "embedded")]
use std::process::Command;
use std::time::Duration;

use ojs::worker::HandlerError;
use ojs::{Client, JobContext, JobRequest, RetryPolicy, Worker};

const PATIENCE: Duration = Duration::from_secs(60);
/// Set in the process that is the program: says whether it sets up a subscriber.
const PROGRAM: &str = "OJS_TEST_PROGRAM";

/// Runs the program below in a process of its own; what it has written to stderr.
fn stderr_of(program: &str) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "the_program", "--nocapture", "--test-threads=1"]).env(PROGRAM, program);
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{}{stderr}", String::from_utf8_lossy(&output.stdout));
    stderr
}

/// One job that fails twice, and one of a type that no handler has.
#[tokio::test]
async fn the_program() {
    let Ok(program) = std::env::var(PROGRAM) else { return };
    if program == "with a subscriber" {
        tracing_subscriber::fmt().with_writer(std::io::sink).init();
    }
    let client = Client::connect("memory:").await.unwrap();
    let worker = Worker::for_client(&client);
    let handler = |_: JobContext| async { Err::<(), _>(HandlerError::new("no such address\u{1b}[31m")) };
    worker.register("mail.send", handler).unwrap();
    let retry = RetryPolicy::new().max_attempts(2).initial_interval(Duration::from_millis(10));
    let request = JobRequest::new("mail.send", ("planted-5ecret",)).retry(retry);
    let failing = client.enqueue_request(request).await.unwrap().unwrap();
    let misspelt = client.enqueue("mail.sent", ()).await.unwrap();
    let running = worker.start();
    for job in [failing, misspelt] {
        client.wait_for_result(&job.id, PATIENCE).await.unwrap();
    }
    // The worker writes its record when the server has answered, which may be a moment after the result is there.
    running.shutdown(None).await;
}

#[test]
fn failures_are_on_stderr_without_a_subscriber_and_only_there() {
    let said = stderr_of("without a subscriber");
    let once = |parts: &[&str]| {
        let lines = said.lines().filter(|line| parts.iter().all(|part| line.contains(part)));
        assert_eq!(lines.count(), 1, "{parts:?} in {said}");
    };
    let error = "error=HandlerError (handler_error): no such address\\u{1b}[31m";
    once(&["WARN ojs::worker: job failed type=mail.send id=", "attempt=1 of 2 runs_again=in ", error]);
    once(&["ERROR ojs::worker: job failed for good type=mail.send id=", "queue=default attempt=2 of 2 worker=", error]);
    once(&["ERROR ojs::worker: job failed for good type=mail.sent id=", "Is the type misspelt?", "ojs jobs retry "]);
    assert!(!said.contains("planted-5ecret"), "arguments are never logged: {said}");
    let said = stderr_of("with a subscriber");
    assert!(!said.contains("job failed"), "the subscriber has the records: {said}");
}
