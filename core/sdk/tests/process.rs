//! Workers and their process: signals, and a handler that needs the client that its only slot hangs on.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed unwrap is a failed test")]
#![cfg(all(feature = "embedded", unix))]
use std::time::Duration;

use ojs::worker::WorkerOptions;
use ojs::{Client, JobContext, JobState, Worker};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

const PATIENCE: Duration = Duration::from_secs(60);

/// The library handles no signals: the program says which one stops its worker. What runs then finishes.
#[tokio::test]
async fn a_signal_stops_a_worker_gracefully() {
    let client = Client::connect("memory:").await.unwrap();
    let worker = Worker::for_client(&client);
    let (began, mut begins) = mpsc::unbounded_channel();
    let (stopping, stops) = tokio::sync::watch::channel(false);
    worker
        .register("slow", move |_: JobContext| {
            let (began, mut stops) = (began.clone(), stops.clone());
            async move {
                began.send(())?;
                stops.wait_for(|stopping| *stopping).await?;
                Ok("finished")
            }
        })
        .unwrap();
    let job = client.enqueue("slow", ()).await.unwrap();
    let mut told = signal(SignalKind::user_defined1()).unwrap();
    let run = tokio::spawn(worker.run_until(async move {
        told.recv().await;
        stopping.send(true)
    }));
    begins.recv().await.unwrap();
    let itself = std::process::id().to_string();
    assert!(std::process::Command::new("kill").args(["-USR1", &itself]).status().unwrap().success());
    tokio::time::timeout(PATIENCE, run).await.expect("the worker ends").unwrap();
    let ended = client.get_job(&job.id).await.unwrap();
    assert_eq!((ended.state, ended.result.unwrap().as_str()), (JobState::Completed, r#""finished""#));
}

#[tokio::test]
async fn one_slot_and_a_handler_that_uses_the_client() {
    let client = Client::connect("memory:").await.unwrap();
    let worker = Worker::new(std::sync::Arc::clone(client.transport()), WorkerOptions::default().concurrency(1));
    let (done, mut ran) = mpsc::unbounded_channel();
    let inside = client.clone();
    worker
        .register("parent", move |ctx: JobContext| {
            let inside = inside.clone();
            async move {
                ctx.heartbeat().await?;
                inside.get_job(ctx.id()).await?;
                inside.enqueue("child", ()).await?;
                Ok(())
            }
        })
        .unwrap();
    worker
        .register("child", move |_: JobContext| {
            let done = done.clone();
            async move { Ok(done.send(())?) }
        })
        .unwrap();
    let handle = worker.start();
    for _ in 0..20 {
        client.enqueue("parent", ()).await.unwrap();
    }
    for _ in 0..20 {
        tokio::time::timeout(PATIENCE, ran.recv()).await.expect("no deadlock").unwrap();
    }
    handle.shutdown(None).await;
}
