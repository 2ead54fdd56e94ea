//! What is logged of jobs, and what never is (extensions section 13; EI-002, EI-R005).
#![cfg(feature = "embedded")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]
#[path = "support/log.rs"]
mod log;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use log::Log;
use ojs::encryption::{Codec, Encrypted, Key, Keys};
use ojs::middleware::Logging;
use ojs::transport::{Transport, connect};
use ojs::worker::WorkerOptions;
use ojs::{Client, HandlerError, JobContext, RetryPolicy, Worker};
use serde_json::Value;
use tokio::sync::mpsc;

/// Everything that the process logs, down to the least important: records of all tests, one JSON object a line.
fn sink() -> &'static Log {
    static SINK: OnceLock<Log> = OnceLock::new();
    SINK.get_or_init(|| {
        let sink = Log::default();
        let subscriber = tracing_subscriber::fmt().json().with_max_level(tracing::Level::TRACE).with_writer(sink.clone());
        tracing::subscriber::set_global_default(subscriber.finish()).unwrap();
        sink
    })
}

fn text() -> String {
    sink().text()
}

/// Fields of the records of the layer about a job.
fn records(job: &str) -> Vec<Value> {
    let all = text();
    let records = all.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.map(|record| record["fields"].clone()).filter(|fields| fields["job_id"] == job).collect()
}

fn encrypting(inner: Arc<dyn Transport>) -> Arc<dyn Transport> {
    Arc::new(Encrypted::new(inner, Codec::new(Keys::new("k-1", Key::new([1; 32])).unwrap())))
}

/// Runs a job with a secret argument twice, the first time with a failure; returns its id and its arguments as stored.
async fn run(transport: Arc<dyn Transport>, plain: &Arc<dyn Transport>, layer: Logging, secret: &str) -> (String, String) {
    let client = Client::new(Arc::clone(&transport));
    client.middleware().add("logging", layer).unwrap();
    let worker = Worker::new(transport, WorkerOptions::default().worker_id("w"));
    worker.middleware().add("logging", layer).unwrap();
    let (seen, mut log) = mpsc::unbounded_channel();
    let handler = move |ctx: JobContext| {
        let (attempt, seen) = (ctx.attempt(), seen.clone());
        async move {
            seen.send(attempt)?;
            if attempt == 1 { Err(HandlerError::new("not yet")) } else { Ok(()) }
        }
    };
    worker.register("card.charge", handler).unwrap();
    let handle = worker.start();
    let retry = RetryPolicy::new().max_attempts(3).initial_interval(Duration::from_millis(1));
    let job = client.enqueue("card.charge", [secret]).retry(retry).await.unwrap();
    for attempt in [1, 2] {
        assert_eq!(tokio::time::timeout(Duration::from_secs(60), log.recv()).await.unwrap(), Some(attempt));
    }
    handle.shutdown(None).await;
    let stored = Client::new(Arc::clone(plain)).get_job(&job.id).await.unwrap();
    (job.id, String::from_utf8(stored.args.as_bytes().to_vec()).unwrap())
}

#[tokio::test]
async fn ei_r005_the_loggers_show_encrypted_arguments_as_encrypted() {
    sink();
    let plain = connect("memory:ei-r005", Default::default()).await.unwrap();
    let transport = encrypting(Arc::clone(&plain));
    let (id, stored) = run(Arc::clone(&transport), &plain, Logging::new().with_args(&transport), "4111 1111 1111 1111").await;
    let records = records(&id);
    let told: Vec<&str> = records.iter().map(|fields| fields["message"].as_str().unwrap()).collect();
    assert_eq!(told.iter().filter(|told| **told == "job enqueued").count(), 1, "{told:?}");
    assert_eq!(told.iter().filter(|told| **told == "job ended").count(), 2, "{told:?}");
    let of_layer = records.iter().filter(|fields| fields["message"].as_str().unwrap().starts_with("job "));
    for fields in of_layer {
        assert_eq!(fields["args"], "[encrypted]", "{fields}");
    }
    assert!(!stored.contains("4111 1111") && !text().contains("4111 1111"), "the arguments are encrypted, and in no record");
}

#[tokio::test]
async fn ei_002_no_record_has_plaintext_or_ciphertext() {
    sink();
    let plain = connect("memory:ei-002", Default::default()).await.unwrap();
    let transport = encrypting(Arc::clone(&plain));
    let (id, stored) = run(transport, &plain, Logging::new(), "5500 0000 0000 0004").await;
    let ciphertext = serde_json::from_str::<Value>(&stored).unwrap()[0]["data"].as_str().unwrap().to_owned();
    let all = text();
    assert!(records(&id).len() >= 5, "enqueue, two starts, two ends");
    assert!(records(&id).iter().all(|fields| fields.get("args").is_none()));
    assert!(!all.contains("5500 0000") && !all.contains(&ciphertext));
}

#[tokio::test]
async fn arguments_are_logged_when_a_program_asks_for_them_and_does_not_encrypt() {
    sink();
    let plain = connect("memory:shown", Default::default()).await.unwrap();
    let (id, _) = run(Arc::clone(&plain), &plain, Logging::new().with_args(&plain), "hello").await;
    let records = records(&id);
    let ends: Vec<&Value> = records.iter().filter(|fields| fields["message"] == "job ended").collect();
    assert_eq!(ends.len(), 2);
    for (end, (status, attempt)) in ends.into_iter().zip([("failed", 1), ("completed", 2)]) {
        assert_eq!((&end["status"], &end["attempt"], &end["args"]), (&status.into(), &attempt.into(), &r#"["hello"]"#.into()));
        assert!(end["duration_ms"].is_u64() && end["job_type"] == "card.charge" && end["queue"] == "default");
    }
    assert!(text().contains("arguments of jobs are logged"), "with a warning");
}
