//! Progress, checkpoints and steps through the real engine (extensions sections 20 and 21).
#![cfg(feature = "embedded")]
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ojs::{Client, Error, HandlerError, JobContext, RetryPolicy, Worker};
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedReceiver};

async fn hear<T>(hears: &mut UnboundedReceiver<T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), hears.recv()).await.expect("the handler goes on").unwrap()
}

fn soon() -> RetryPolicy {
    RetryPolicy::new().max_attempts(5).initial_interval(Duration::from_millis(50))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_runs_once_across_attempts() {
    let client = Client::connect("memory:").await.unwrap();
    let worker = Worker::for_client(&client);
    let (charges, (done, mut hears)) = (Arc::new(AtomicU32::new(0)), mpsc::unbounded_channel());
    let counted = Arc::clone(&charges);
    worker
        .register("pay", move |ctx: JobContext| {
            let (charges, done) = (Arc::clone(&counted), done.clone());
            async move {
                let charge = || async { Ok(json!({"id": format!("ch_{}", charges.fetch_add(1, Ordering::SeqCst))})) };
                let charge: Value = ctx.step("charge", charge).await?;
                let page: u32 = ctx.load_checkpoint()?.unwrap_or(0);
                let again: Value = ctx.step("charge", || async { Err(HandlerError::new("not run again")) }).await?;
                assert_eq!(again, charge);
                ctx.checkpoint(&(page + 1)).await?;
                done.send((ctx.attempt(), charge["id"].as_str().unwrap().to_owned(), page))?;
                if page < 2 { Err(HandlerError::new("again")) } else { Ok(()) }
            }
        })
        .unwrap();
    let handle = worker.start();
    let job = client.enqueue("pay", ()).retry(soon()).await.unwrap();
    for attempt in 1..=3 {
        assert_eq!(hear(&mut hears).await, (attempt, "ch_0".to_owned(), attempt - 1));
    }
    client.wait_for_result(&job.id, Duration::from_secs(60)).await.unwrap();
    assert_eq!(charges.load(Ordering::SeqCst), 1);
    let saved = client.get_checkpoint(&job.id).await.unwrap();
    assert_eq!(saved["state"], json!({"$ojs.state": 3, "$ojs.steps": {"charge": {"id": "ch_0"}}}), "what other languages read");
    handle.shutdown(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_of_another_program_is_where_a_handler_begins() {
    let client = Client::connect("memory:").await.unwrap();
    let job = client.enqueue("import", ()).await.unwrap();
    client.save_checkpoint(&job.id, &json!({"cursor": "abc"})).await.unwrap();
    let worker = Worker::for_client(&client);
    let (done, mut hears) = mpsc::unbounded_channel();
    worker
        .register("import", move |ctx: JobContext| {
            let done = done.clone();
            async move {
                let before: Option<Value> = ctx.load_checkpoint()?;
                let sequence = ctx.checkpoint(&json!({"cursor": "def"})).await?;
                let null = ctx.checkpoint(&()).await.unwrap_err();
                let large = ctx.checkpoint(&"x".repeat(1_100_000)).await.unwrap_err();
                let after: Option<Value> = ctx.load_checkpoint()?;
                done.send((before, sequence, after, null.to_string(), large.status(), ctx.has_checkpoint()))?;
                Ok(())
            }
        })
        .unwrap();
    let handle = worker.start();
    let (before, sequence, after, null, large, has) = hear(&mut hears).await;
    assert_eq!((before, sequence, after), (Some(json!({"cursor": "abc"})), 2, Some(json!({"cursor": "def"}))));
    assert!(null.contains("null") && large == Some(413) && has, "{null} {large:?}");
    handle.shutdown(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_lease_is_the_typed_error_and_stops_the_handler() {
    let client = Client::connect("memory:").await.unwrap();
    let worker = Worker::for_client(&client);
    let (began, mut begins) = mpsc::unbounded_channel();
    let (done, mut hears) = mpsc::unbounded_channel();
    let go = Arc::new(tokio::sync::Notify::new());
    let waits = Arc::clone(&go);
    worker
        .register("import", move |ctx: JobContext| {
            let (began, done, go) = (began.clone(), done.clone(), Arc::clone(&waits));
            async move {
                ctx.checkpoint(&1).await?;
                began.send(())?;
                go.notified().await;
                let refused = ctx.checkpoint(&2).await.unwrap_err();
                ctx.cancelled().await;
                done.send((refused, ctx.cancel_reason()))?;
                Ok(())
            }
        })
        .unwrap();
    let handle = worker.start();
    let job = client.enqueue("import", ()).await.unwrap();
    hear(&mut begins).await;
    client.cancel(&job.id).await.unwrap();
    go.notify_one();
    let (refused, reason) = hear(&mut hears).await;
    assert!(matches!(refused, Error::NotHeld), "{refused:?}");
    assert_eq!(reason, Some(ojs::dispatch::CancelReason::Cancelled));
    assert_eq!(client.get_checkpoint(&job.id).await.unwrap()["state"], 1);
    handle.shutdown(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_reports_the_latest_is_sent() {
    let client = Client::connect("memory:").await.unwrap();
    let worker = Worker::for_client(&client);
    let (began, mut begins) = mpsc::unbounded_channel();
    let go = Arc::new(tokio::sync::Notify::new());
    let waits = Arc::clone(&go);
    worker
        .register("import", move |ctx: JobContext| {
            let (began, go) = (began.clone(), Arc::clone(&waits));
            async move {
                for percent in 0..=50 {
                    ctx.progress(f64::from(percent) / 100.0, "rows");
                }
                ctx.progress(f64::NAN, None);
                began.send(())?;
                go.notified().await;
                Ok(())
            }
        })
        .unwrap();
    let handle = worker.start();
    let job = client.enqueue("import", ()).await.unwrap();
    hear(&mut begins).await;
    let seen = async {
        loop {
            let seen = client.get_progress(&job.id).await.unwrap();
            if seen["progress"] == 0.5 {
                return seen;
            }
            tokio::task::yield_now().await;
        }
    };
    let seen = tokio::time::timeout(Duration::from_secs(60), seen).await.expect("the latest report arrives");
    assert_eq!((&seen["message"], &seen["state"]), (&json!("rows"), &json!("active")));
    go.notify_one();
    client.wait_for_result(&job.id, Duration::from_secs(60)).await.unwrap();
    assert_eq!(client.get_progress(&job.id).await.unwrap()["progress"], 1.0);
    handle.shutdown(None).await;
}
