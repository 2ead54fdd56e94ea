//! Versions of jobs against the engine in this process: a worker is given what it declares, and old arguments are
//! changed before the handler sees them.
#![cfg(feature = "embedded")]
use std::sync::Arc;

use ojs::transport::{BoxFuture, Request, Response, Transport, TransportError};
use ojs::worker::{UnknownTypes, WorkerHandle, WorkerOptions};
use ojs::{Client, JobContext, JobRequest, JobState, Worker};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

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

#[tokio::test]
async fn a_handler_written_for_a_version_is_given_what_transforms_bring_to_it() {
    let client = Client::connect("memory:").await.unwrap();
    let worker = Worker::for_client(&client);
    let (seen, mut args) = unbounded_channel();
    worker
        .register("mail", move |ctx: JobContext| {
            let seen = seen.clone();
            async move { Ok(seen.send(ctx.args::<Vec<Value>>()?)?) }
        })
        .unwrap();
    worker.register_version("mail", "2.1").unwrap();
    worker.register_transform("mail", "1", "2", |args| Ok(json!([{"to": args[0]}]))).unwrap();
    let handle = worker.start();
    let held = enqueue(&client, "3").await;
    for (version, wanted) in [("1.0", json!({"to": "1.0"})), ("2.7", json!("2.7"))] {
        enqueue(&client, version).await;
        assert_eq!(args.recv().await, Some(vec![wanted]));
    }
    handle.shutdown(None).await;
    let job = client.get_job(&held).await.unwrap();
    assert_eq!((job.state, job.attempt), (JobState::Available, 0), "no transform begins at 3");
}

/// A server that knows no versions: what a worker declares does not reach it. `said` gets the bodies of all requests.
struct WithoutVersions {
    server: Arc<dyn Transport>,
    said: UnboundedSender<Value>,
}

impl Transport for WithoutVersions {
    fn request(&self, mut request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        let body = request.body.as_deref().and_then(|body| serde_json::from_slice::<Value>(body).ok());
        if let Some(mut body) = body {
            body.as_object_mut().unwrap().remove("handlers");
            request.body = Some(body.to_string().into());
            // The test may be over.
            let _ = self.said.send(body);
        }
        self.server.request(request)
    }
}

#[tokio::test]
async fn a_version_that_no_transform_begins_at_is_refused_by_the_worker_too() {
    for (unknown, state) in [(UnknownTypes::Fail, JobState::Discarded), (UnknownTypes::Release, JobState::Retryable)] {
        let client = Client::connect("memory:").await.unwrap();
        let (said, mut bodies) = unbounded_channel();
        let server = Arc::new(WithoutVersions { server: Arc::clone(client.transport()), said });
        let worker = Worker::new(server, WorkerOptions::default().unknown_types(unknown));
        worker.register("mail", |_: JobContext| async { Ok(()) }).unwrap();
        worker.register_version("mail", "2").unwrap();
        worker.register_transform("mail", "1", "2", Ok).unwrap();
        let refused = enqueue(&client, "4").await;
        let handle = worker.start();
        while !bodies.recv().await.unwrap().to_string().contains(&format!("{refused}\"")) {}
        handle.shutdown(None).await;
        let job = client.get_job(&refused).await.unwrap();
        assert_eq!(job.state, state);
        assert_eq!(job.document.as_str().contains("unsupported_version"), unknown == UnknownTypes::Fail);
    }
}
