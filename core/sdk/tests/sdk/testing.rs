//! `ojs::testing::Fake`: what was enqueued, handlers when told, handlers at once.
#![cfg(feature = "embedded")]
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ojs::testing::Fake;
use ojs::workflow::chain;
use ojs::{Client, Error, HandlerError, JobContext, JobRequest, JobState, UniquePolicy, Worker};
use serde_json::json;

/// What handlers saw, in order.
type Seen = Arc<Mutex<Vec<i64>>>;

/// A worker whose handler `a` keeps its argument, `b` enqueues an `a`, `c` fails for good, `d` snoozes.
fn worker(client: &Client) -> (Arc<Worker>, Seen) {
    let worker = Worker::for_client(client);
    let seen = Seen::default();
    let kept = Arc::clone(&seen);
    worker
        .register("a", move |ctx: JobContext| {
            let kept = Arc::clone(&kept);
            async move {
                let number: i64 = ctx.arg(0)?;
                kept.lock().unwrap().push(number);
                Ok(number)
            }
        })
        .unwrap();
    let sender = client.clone();
    worker
        .register("b", move |ctx: JobContext| {
            let sender = sender.clone();
            async move {
                sender.enqueue("a", ctx.arg::<i64>(0)?).await?;
                Ok(())
            }
        })
        .unwrap();
    let fail = |_| async { Err::<(), _>(HandlerError::non_retryable("no such customer").with_code("no_customer")) };
    worker.register("c", fail).unwrap();
    worker.register("d", |_| async { Err::<(), _>(HandlerError::snooze(Duration::from_secs(60))) }).unwrap();
    (Arc::new(worker), seen)
}

#[tokio::test]
async fn a_fake_remembers_and_runs_handlers_when_told() {
    let fake = Fake::start().await.unwrap();
    let client = fake.client();
    let first = client.enqueue("b", 1).queue("default").await.unwrap();
    client.enqueue_batch([JobRequest::new("a", 2), JobRequest::new("d", ())]).await.unwrap();
    let unique = || client.enqueue("a", 9).delay(Duration::from_secs(60)).unique(UniquePolicy::by(["type", "args"]));
    unique().await.unwrap();
    assert!(unique().await.unwrap_err().is_duplicate());

    assert_eq!(fake.enqueued().len(), 4, "the refused one is not among them");
    assert_eq!(fake.assert_enqueued("b")["args"], json!([1]));
    fake.assert_not_enqueued("c");

    let (worker, seen) = worker(&client);
    assert_eq!(fake.drain(&worker).await.unwrap(), 4, "the job that a handler enqueued included, the delayed one not");
    assert_eq!(*seen.lock().unwrap(), [2, 1]);
    let job = client.get_job(&first.id).await.unwrap();
    assert_eq!(job.state, JobState::Completed);
    assert_eq!(fake.drain(&worker).await.unwrap(), 0);
}

#[tokio::test]
async fn what_a_handler_fails_with_is_what_a_drain_fails_with() {
    let fake = Fake::start().await.unwrap();
    let client = fake.client();
    let (worker, _) = worker(&client);
    for (job_type, code) in [("c", "no_customer"), ("nobody.knows", "no_handler")] {
        let job = client.enqueue(job_type, ()).await.unwrap();
        let Err(Error::Ojs(error)) = fake.drain(&worker).await else { unreachable!("{job_type} failed") };
        assert_eq!(error.code.to_string(), code);
        assert!(client.get_job(&job.id).await.unwrap().state.is_terminal());
    }
}

#[tokio::test]
async fn inline_runs_jobs_as_they_are_enqueued() {
    let fake = Fake::start().await.unwrap();
    let client = fake.client();
    let (worker, seen) = worker(&client);
    fake.inline(Arc::clone(&worker));
    client.enqueue("a", 7).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), [7]);
    client.enqueue("b", 8).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), [7, 8], "what a handler enqueues runs as well");
    client.workflow(&chain([JobRequest::new("a", 1), JobRequest::new("a", 2)])).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), [7, 8, 1, 2], "the steps of workflows, too");

    let error = client.enqueue("c", ()).await.unwrap_err();
    assert_eq!(error.ojs().unwrap().message, "no such customer");
    fake.assert_enqueued("c");

    fake.inline(None);
    client.enqueue("a", 9).await.unwrap();
    assert_eq!(seen.lock().unwrap().len(), 4);
}
