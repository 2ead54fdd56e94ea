//! One SQLite file, two processes: a server, and this test with an engine of its own inside. (A web process that enqueues and a worker
//! process that works, without a server between them, is the same thing.)
use std::sync::Arc;

use ojs::{Client, JobRequest, JobState, Worker};
use ojs_tests::{ServerProcess, until};
use tokio::sync::{Mutex, mpsc};

use super::job_in;

#[tokio::test]
async fn each_process_sees_and_works_the_jobs_of_the_other() {
    let server = ServerProcess::sqlite().await;
    let remote = Client::connect(&server.url()).await.unwrap();
    let embedded = Client::connect(server.store()).await.unwrap();
    for (producer, consumer) in [(&remote, &embedded), (&embedded, &remote)] {
        let (ran, mut runs) = mpsc::unbounded_channel();
        let worker = Worker::for_client(consumer);
        worker
            .register("test.plain", move |ctx| {
                let ran = ran.clone();
                async move { Ok(ran.send(ctx.id().to_owned())?) }
            })
            .unwrap();
        let worker = worker.start();
        let job = producer.enqueue("test.plain", ()).await.unwrap();
        assert_eq!(runs.recv().await.unwrap(), job.id);
        job_in(producer, &job.id, JobState::Completed).await;
        worker.shutdown(None).await;
    }
    embedded.close().await;
}

/// Both work the same queue at the same time: every job once.
#[tokio::test]
async fn two_processes_share_a_queue_without_overlap() {
    const JOBS: usize = 1000;
    let server = ServerProcess::sqlite().await;
    let remote = Client::connect(&server.url()).await.unwrap();
    let embedded = Client::connect(server.store()).await.unwrap();
    let runs = Arc::new(Mutex::new(Vec::new()));
    let mut workers = Vec::new();
    for (name, client) in [("remote", &remote), ("embedded", &embedded)] {
        let worker = Worker::for_client(client);
        let runs = Arc::clone(&runs);
        worker
            .register("test.plain", move |ctx| {
                let runs = Arc::clone(&runs);
                async move {
                    runs.lock().await.push((ctx.id().to_owned(), name));
                    Ok(())
                }
            })
            .unwrap();
        workers.push(worker.start());
    }
    let half = || (0..JOBS / 20).map(|n| JobRequest::new("test.plain", [n]));
    for _ in 0..10 {
        let (a, b) = tokio::join!(remote.enqueue_batch(half()), embedded.enqueue_batch(half()));
        assert_eq!(a.unwrap().len() + b.unwrap().len(), JOBS / 10);
    }
    until("all are completed", || async {
        remote.queue_stats("default").await.ok().filter(|stats| stats.completed == JOBS as u64)
    })
    .await;
    for worker in workers {
        worker.shutdown(None).await;
    }
    let mut ids: Vec<String> = runs.lock().await.iter().map(|(id, _)| id.clone()).collect();
    let ran = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ran, ids.len()), (JOBS, JOBS), "every job ran once, in one process or the other");
    embedded.close().await;
}

/// A clean end of one process does not disturb the other.
#[tokio::test]
async fn one_process_may_leave() {
    let mut server = ServerProcess::sqlite().await;
    let embedded = Client::connect(server.store()).await.unwrap();
    let first = embedded.enqueue("test.plain", ()).await.unwrap();
    assert_eq!(server.terminate().await.code(), Some(0));
    let second = embedded.enqueue("test.plain", ()).await.unwrap();
    server = server.again().await;
    let remote = Client::connect(&server.url()).await.unwrap();
    embedded.close().await;
    for id in [first.id, second.id] {
        assert_eq!(remote.get_job(&id).await.unwrap().state, JobState::Available);
    }
}
