//! Versions of jobs against the engine in this process: a worker is given what it declares, and old arguments are
//! changed before the handler sees them.
#![cfg(feature = "embedded")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]
use ojs::worker::{WorkerHandle, WorkerOptions};
use ojs::{Client, JobContext, JobRequest, JobState, Worker};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// A worker whose handler for `mail` says which arguments it has seen.
fn worker(client: &Client, versions: &str) -> (Worker, UnboundedReceiver<Value>) {
    let worker = Worker::new(client.transport().clone(), WorkerOptions::default().versions("mail", [versions]).unwrap());
    let (seen, receiver) = unbounded_channel();
    worker
        .register("mail", move |ctx: JobContext| {
            let seen = seen.clone();
            async move {
                let args: Value = serde_json::from_str(ctx.job().args.as_str())?;
                Ok(seen.send(args)?)
            }
        })
        .unwrap();
    (worker, receiver)
}

async fn enqueue(client: &Client, version: &str) -> String {
    client.enqueue_request(JobRequest::new("mail", version).version(version)).await.unwrap().unwrap().id
}

async fn stop(handles: Vec<WorkerHandle>) {
    for handle in handles {
        handle.shutdown(None).await;
    }
}

#[tokio::test]
async fn each_worker_is_given_the_versions_that_it_declares() {
    let client = Client::connect("memory:").await.unwrap();
    let ((old, mut old_seen), (new, mut new_seen)) = (worker(&client, "1"), worker(&client, ">=2.0 <3.0"));
    let held = enqueue(&client, "3").await;
    let handles = vec![old.start(), new.start()];
    for _ in 0..5 {
        enqueue(&client, "2.1").await;
        enqueue(&client, "1").await;
        assert_eq!(old_seen.recv().await, Some(json!(["1"])));
        assert_eq!(new_seen.recv().await, Some(json!(["2.1"])));
    }
    stop(handles).await;
    let job = client.get_job(&held).await.unwrap();
    assert_eq!((job.state, job.attempt), (JobState::Available, 0), "no worker runs it");
    assert!(job.document.as_str().contains(r#""version":"3""#));
}

#[tokio::test]
async fn old_arguments_become_new_ones_before_the_handler_sees_them() {
    let client = Client::connect("memory:").await.unwrap();
    let (worker, mut seen) = worker(&client, "*");
    worker.register_transform("mail", "1", "2", |args| Ok(json!([{"to": args[0]}]))).unwrap();
    worker.register_transform("mail", "7", "8", |_| Err("no address".to_owned())).unwrap();
    let handle = worker.start();
    enqueue(&client, "1.0").await;
    assert_eq!(seen.recv().await, Some(json!([{"to": "1.0"}])));
    enqueue(&client, "2").await;
    assert_eq!(seen.recv().await, Some(json!(["2"])), "it has the new form already");
    client.enqueue("mail", "plain").await.unwrap();
    assert_eq!(seen.recv().await, Some(json!(["plain"])), "a job without a version stays as it is");
    let failed = enqueue(&client, "7").await;
    enqueue(&client, "2").await;
    assert_eq!(seen.recv().await, Some(json!(["2"])));
    handle.shutdown(None).await;
    let job = client.get_job(&failed).await.unwrap();
    assert_eq!(job.state, JobState::Discarded);
    assert!(job.document.as_str().contains("version_transform"), "{}", job.document.as_str());
}
