//! The server goes away under a running worker, and comes back.
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ojs::transport::ResendPolicy;
use ojs::{Client, JobState, Worker};
use ojs_tests::{ServerProcess, until};
use tokio::sync::{Notify, mpsc};

use super::job_in;

/// A worker whose handlers wait for `go`; each start is told, with the number of runs so far.
async fn waiting_worker(server: &ServerProcess, go: &Arc<Notify>) -> (Worker, mpsc::UnboundedReceiver<u32>) {
    let worker = Worker::builder().url(server.url()).build().await.unwrap();
    let (started, starts) = mpsc::unbounded_channel();
    let (go, runs) = (Arc::clone(go), Arc::new(AtomicU32::new(0)));
    worker
        .register("test.wait", move |_| {
            let (started, go, run) = (started.clone(), Arc::clone(&go), runs.fetch_add(1, Ordering::SeqCst) + 1);
            async move {
                started.send(run)?;
                go.notified().await;
                Ok(run)
            }
        })
        .unwrap();
    (worker, starts)
}

/// The handler ends while no server is there: its outcome is kept and sent again until one is.
#[tokio::test]
async fn an_outcome_survives_the_death_of_the_server() {
    let mut server = ServerProcess::sqlite().await;
    let client = Client::connect(&server.url()).await.unwrap();
    let go = Arc::new(Notify::new());
    let (worker, mut starts) = waiting_worker(&server, &go).await;
    let worker = worker.start();
    let job = client.enqueue("test.wait", ()).await.unwrap();
    assert_eq!(starts.recv().await, Some(1));
    server.kill().await;
    go.notify_one();
    let server = server.again_there().await;
    let done = job_in(&client, &job.id, JobState::Completed).await;
    assert_eq!((done.attempt, done.result.unwrap().parse::<u32>().unwrap()), (1, 1), "run once, acked after the restart");
    // And the worker goes on with the new server.
    let next = client.enqueue("test.wait", ()).await.unwrap();
    assert_eq!(starts.recv().await, Some(2));
    go.notify_one();
    job_in(&client, &next.id, JobState::Completed).await;
    worker.shutdown(None).await;
    drop(server);
}

/// SIGTERM with workers in a long poll: the server does not wait for them, the workers wait for its successor.
#[tokio::test]
async fn a_server_drains_in_spite_of_waiting_workers() {
    let mut server = ServerProcess::sqlite().await;
    let client = Client::connect(&server.url()).await.unwrap();
    let go = Arc::new(Notify::new());
    let (worker, mut starts) = waiting_worker(&server, &go).await;
    let worker = worker.start();
    let job = client.enqueue("test.wait", ()).await.unwrap();
    starts.recv().await.unwrap();
    let started = std::time::Instant::now();
    assert_eq!(server.terminate().await.code(), Some(0));
    assert!(started.elapsed() < Duration::from_secs(15), "an idle long poll must not delay the end: {:?}", started.elapsed());
    let _server = server.again_there().await;
    assert_eq!(client.get_job(&job.id).await.unwrap().state, JobState::Active, "a restart touches no lease");
    go.notify_one();
    job_in(&client, &job.id, JobState::Completed).await;
    worker.shutdown(None).await;
}

/// An enqueue while the server restarts is sent again, with the same id: one job.
#[tokio::test]
async fn an_enqueue_waits_for_a_server_that_restarts() {
    let mut server = ServerProcess::sqlite().await;
    // As often as a slow machine needs to start a server.
    let patient = ResendPolicy { max_sends: u32::MAX, max_pause: Duration::from_secs(1), ..ResendPolicy::default() };
    let client = Client::builder().url(server.url()).resend(patient).connect().await.unwrap();
    client.enqueue("test.plain", ()).await.unwrap();
    server.kill().await;
    let enqueue = client.enqueue("test.plain", ()).send();
    let (job, server) = tokio::join!(enqueue, server.again_there());
    let id = job.expect("sent again until the server is back").id;
    assert_eq!(client.get_job(&id).await.unwrap().state, JobState::Available);
    assert_eq!(client.queue_stats("default").await.unwrap().available, 2);
    drop(server);
}

/// A worker that is paused past its lease: the job runs elsewhere, and what the late one says changes nothing.
#[tokio::test]
async fn a_worker_that_lost_its_lease_changes_nothing() {
    let server = ServerProcess::sqlite().await;
    let client = Client::connect(&server.url()).await.unwrap();
    let (started, mut starts) = mpsc::unbounded_channel();
    let go = Arc::new(Notify::new());
    let mut workers = Vec::new();
    for name in ["late", "prompt"] {
        // No heartbeat within the test: as if the whole process had been stopped.
        let silent = |options: ojs::worker::WorkerOptions| {
            // One slot: the late one cannot take its own job again.
            let options = options.heartbeat_interval(Duration::from_secs(600)).worker_id(name).concurrency(1);
            options.visibility_timeout(Duration::from_secs(if name == "late" { 3 } else { 60 }))
        };
        let worker = Worker::builder().url(server.url()).options(silent).build().await.unwrap();
        let (started, go) = (started.clone(), Arc::clone(&go));
        worker
            .register("test.wait", move |_| {
                let (started, go) = (started.clone(), Arc::clone(&go));
                async move {
                    started.send(name)?;
                    if name == "late" {
                        go.notified().await;
                    }
                    Ok(name)
                }
            })
            .unwrap();
        workers.push(worker);
    }
    let prompt = workers.pop().unwrap();
    let late = workers.pop().unwrap().start();
    let job = client.enqueue("test.wait", ()).await.unwrap();
    assert_eq!(starts.recv().await, Some("late"));
    late.quiet();
    let prompt = prompt.start();
    assert_eq!(starts.recv().await, Some("prompt"), "the lease ran out, the job was handed out again");
    let done = job_in(&client, &job.id, JobState::Completed).await;
    assert_eq!((done.attempt, done.result.unwrap().as_str()), (2, "\"prompt\""));
    go.notify_one();
    until("the late worker is rid of its job", || async { (late.held() == 0).then_some(()) }).await;
    for worker in [late, prompt] {
        worker.shutdown(None).await;
    }
    assert_eq!(client.get_job(&job.id).await.unwrap().result.unwrap().as_str(), "\"prompt\"");
}
