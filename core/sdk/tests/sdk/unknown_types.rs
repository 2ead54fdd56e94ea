//! Jobs whose type has no handler in the worker: failed, given back, or never asked for.
use std::time::Duration;

use crate::support::{Server, job, server};
use ojs::worker::{UnknownTypes, WorkerHandle, WorkerOptions};
use ojs::{JobContext, Worker};
use serde_json::{Value, json};

/// A worker with a handler for `own` only, against a played server.
fn started(options: WorkerOptions) -> (Server, WorkerHandle) {
    let (transport, server) = server();
    let worker = Worker::new(transport, options.worker_id("w").concurrency(2));
    worker.register("own", |_: JobContext| async { Ok(1) }).unwrap();
    (server, worker.start())
}

fn of_type(id: &str, job_type: &str) -> Value {
    let mut job = job(id);
    job["type"] = json!(job_type);
    job
}

const RELEASE: fn() -> WorkerOptions = || WorkerOptions::default().unknown_types(UnknownTypes::Release);

#[tokio::test(start_paused = true)]
async fn jobs_of_unknown_types_are_given_back_with_a_wait_that_grows_and_others_run() {
    let (mut server, handle) = started(RELEASE());
    let _beats = server.beats_alone();
    server.plain().await;
    let mut waits = Vec::new();
    let mut done = 0;
    let mut fetches = 0;
    while waits.len() < 4 {
        let call = server.hears_within(Duration::from_secs(600)).await.expect("a request");
        match call.path() {
            "/workers/fetch" => {
                fetches += 1;
                call.reply(200, json!({"jobs": [of_type("a", "other"), of_type(&format!("b{fetches}"), "own")]}));
                // As the server does, the job of the other type comes again when its wait is over.
                tokio::time::sleep(Duration::from_millis(waits.last().copied().unwrap_or(0) + 1)).await;
            }
            "/workers/nack" => {
                let body = call.body();
                assert_eq!((&body["requeue"], &body["job_id"]), (&json!(true), &json!("a")));
                assert_eq!((&body["error"]["code"], &body["error"]["retryable"]), (&json!("unknown_type"), &json!(true)));
                waits.push(body["delay_ms"].as_u64().unwrap());
                call.reply(200, json!({}));
            }
            path => {
                assert_eq!(path, "/workers/ack");
                done += 1;
                call.reply(200, json!({}));
            }
        }
    }
    assert!(waits.is_sorted() && waits[0] == 1000 && waits[3] > 1000, "{waits:?}");
    assert!(done >= 3, "{done}");
    handle.stop(Some(Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hands_them_out_again_at_once_is_asked_with_pauses() {
    let (mut server, handle) = started(RELEASE());
    let _beats = server.beats_alone();
    server.plain().await;
    let (began, mut fetches) = (tokio::time::Instant::now(), 0);
    while began.elapsed() < Duration::from_secs(60) {
        let call = server.hears_within(Duration::from_secs(600)).await.expect("a request");
        if call.path() == "/workers/fetch" {
            fetches += 1;
            call.reply(200, json!({"jobs": [of_type("a", "other")]}));
        } else {
            call.reply(200, json!({}));
        }
    }
    assert!((20..60).contains(&fetches), "{fetches} fetches in a minute");
    handle.stop(Some(Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn only_registered_types_are_asked_for_where_the_manifest_offers_it() {
    for (offered, unknown) in [(true, UnknownTypes::Fail), (false, UnknownTypes::Fail), (false, UnknownTypes::Release)] {
        let (mut server, handle) = started(WorkerOptions::default().only_registered_types(true).unknown_types(unknown));
        let _beats = server.beats_alone();
        let extensions = if offered { json!(["fetch_types"]) } else { json!([]) };
        server.expect(ojs::transport::MANIFEST_PATH).await.reply(200, json!({"extensions": extensions}));
        let fetch = server.expect("/workers/fetch").await;
        assert_eq!(fetch.body().get("job_types").cloned(), offered.then(|| json!(["own"])));
        // A server that did not select: the job is another worker's, and is not failed.
        fetch.reply(200, json!({"jobs": [of_type("a", "other")]}));
        let nack = server.expect("/workers/nack").await;
        assert_eq!(nack.body()["requeue"], true);
        nack.reply(200, json!({}));
        handle.stop(Some(Duration::ZERO));
    }
}

#[cfg(feature = "embedded")]
mod embedded {
    use ojs::{Client, JobState};

    use super::*;

    /// A worker on the client's engine that tells when it has run a job.
    fn worker(
        client: &Client,
        options: WorkerOptions,
        job_type: &str,
    ) -> (WorkerHandle, tokio::sync::mpsc::UnboundedReceiver<u32>) {
        let (ran, runs) = tokio::sync::mpsc::unbounded_channel();
        let worker = Worker::new(std::sync::Arc::clone(client.transport()), options.concurrency(2));
        let handler = move |ctx: JobContext| {
            let ran = ran.clone();
            async move {
                ran.send(ctx.attempt())?;
                Ok(())
            }
        };
        worker.register(job_type, handler).unwrap();
        (worker.start(), runs)
    }

    async fn state(client: &Client, id: &str, wanted: JobState) -> ojs::Job {
        let found = tokio::time::timeout(Duration::from_secs(60), async {
            loop {
                let job = client.get_job(id).await.unwrap();
                if job.state == wanted {
                    return job;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        found.await.unwrap_or_else(|_| panic!("the job never became {wanted:?}"))
    }

    #[tokio::test]
    async fn by_default_a_job_of_an_unknown_type_becomes_a_dead_letter() {
        let client = Client::connect("memory:").await.unwrap();
        let (handle, _runs) = worker(&client, WorkerOptions::default(), "own");
        let job = client.enqueue("other", ()).await.unwrap();
        let job = state(&client, &job.id, JobState::Discarded).await;
        assert_eq!(job.attempt, 1);
        assert_eq!(client.list_dead_letters(None, ojs::Page::default()).await.unwrap().len(), 1);
        handle.shutdown(None).await;
    }

    #[tokio::test]
    async fn a_job_that_was_given_back_keeps_its_attempts_and_runs_where_its_handler_is() {
        let client = Client::connect("memory:").await.unwrap();
        let (sender, mut mine) = worker(&client, RELEASE(), "own");
        // One attempt is all it has: a release that counted would end it.
        let policy = ojs::RetryPolicy::new().max_attempts(1);
        let job = client.enqueue("other", ()).retry(policy).await.unwrap();
        state(&client, &job.id, JobState::Retryable).await;
        client.enqueue("own", ()).await.unwrap();
        assert_eq!(mine.recv().await, Some(1));
        let (other, mut theirs) = worker(&client, WorkerOptions::default().only_registered_types(true), "other");
        assert!(tokio::time::timeout(Duration::from_secs(120), theirs.recv()).await.unwrap().is_some());
        state(&client, &job.id, JobState::Completed).await;
        sender.shutdown(None).await;
        other.shutdown(None).await;
    }

    #[tokio::test]
    async fn a_worker_that_asks_for_its_types_only_leaves_others_where_they_are() {
        let client = Client::connect("memory:").await.unwrap();
        let other = client.enqueue("other", ()).await.unwrap();
        let (handle, mut runs) = worker(&client, WorkerOptions::default().only_registered_types(true), "own");
        for _ in 0..3 {
            client.enqueue("own", ()).await.unwrap();
            assert_eq!(runs.recv().await, Some(1));
        }
        handle.shutdown(None).await;
        let job = client.get_job(&other.id).await.unwrap();
        assert_eq!((job.state, job.attempt), (JobState::Available, 0));
    }
}
