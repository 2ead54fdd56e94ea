//! Levels 0 and 1 through the SDK: enqueue, run, fail, retry, give up, replay, cancel.
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ojs::worker::WorkerHandle;
use ojs::{Client, HandlerError, JobRequest, JobState, OnExhaustion, RetryPolicy, Worker};
use ojs_tests::{Answer, ServerProcess, Wire, until};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use super::job_in;

const HOUR: Duration = Duration::from_secs(3600);

/// A server and a client of it.
async fn start() -> (ServerProcess, Client) {
    let server = ServerProcess::sqlite().await;
    let client = Client::connect(&server.url()).await.unwrap();
    (server, client)
}

fn quick_retry(attempts: u32) -> RetryPolicy {
    RetryPolicy::new().max_attempts(attempts).initial_interval(Duration::from_millis(10)).jitter(false)
}

/// A worker whose handler fails while `attempt < good`.
fn fails_until(client: &Client, good: u32) -> WorkerHandle {
    let worker = Worker::for_client(client);
    worker
        .register("test.flaky", move |ctx| async move {
            if ctx.attempt() < good {
                Err(HandlerError::new(format!("attempt {} failed", ctx.attempt())))
            } else {
                Ok(json!({"attempt": ctx.attempt()}))
            }
        })
        .unwrap();
    worker.start()
}

#[tokio::test]
async fn a_job_runs_once_and_its_result_is_kept() {
    let (_server, client) = start().await;
    let worker = Worker::for_client(&client);
    worker.register("math.add", |ctx| async move { Ok(ctx.args::<Vec<i64>>()?.iter().sum::<i64>()) }).unwrap();
    let worker = worker.start();
    let requests = (0..500).map(|n| JobRequest::new("math.add", [n, n]));
    let jobs = client.enqueue_batch(requests).await.unwrap();
    for (n, job) in jobs.iter().flatten().enumerate() {
        let done = job_in(&client, &job.id, JobState::Completed).await;
        assert_eq!(done.result.unwrap().parse::<usize>().unwrap(), 2 * n);
        assert_eq!(done.attempt, 1);
    }
    worker.shutdown(None).await;
    assert_eq!(client.queue_stats("default").await.unwrap().completed, 500);
}

#[tokio::test]
async fn a_failure_is_retried_and_remembered() {
    let (_server, client) = start().await;
    let worker = fails_until(&client, 3);
    let job = client.enqueue("test.flaky", ()).retry(quick_retry(5)).await.unwrap();
    let done = job_in(&client, &job.id, JobState::Completed).await;
    assert_eq!(done.result.unwrap().to_value(), json!({"attempt": 3}));
    let failures: Vec<&str> = done.errors.iter().map(|failure| failure.message.as_str()).collect();
    assert_eq!(failures, ["attempt 1 failed", "attempt 2 failed"]);
    worker.shutdown(None).await;
}

#[tokio::test]
async fn a_dead_letter_can_be_replayed() {
    let (_server, client) = start().await;
    let worker = fails_until(&client, u32::MAX);
    let policy = quick_retry(2).on_exhaustion(OnExhaustion::DeadLetter);
    let job = client.enqueue("test.flaky", ()).retry(policy).await.unwrap();
    assert_eq!(job_in(&client, &job.id, JobState::Discarded).await.attempt, 2);
    worker.shutdown(None).await;

    let letters = client.list_dead_letters(None, ojs::Page::default()).await.unwrap();
    assert_eq!(letters.iter().map(|letter| letter.id.as_str()).collect::<Vec<_>>(), [job.id.as_str()]);
    let again = client.retry_dead_letter(&job.id).await.unwrap();
    assert_eq!((again.state, again.attempt), (JobState::Available, 0));
    let worker = fails_until(&client, 1);
    let done = job_in(&client, &job.id, JobState::Completed).await;
    assert_eq!((done.attempt, done.errors.len()), (1, 2), "the history survives the replay");
    worker.shutdown(None).await;
}

#[tokio::test]
async fn a_final_failure_is_not_retried_and_an_unknown_type_neither() {
    let (_server, client) = start().await;
    let worker = Worker::for_client(&client);
    worker.register("test.final", |_| async { Err::<(), _>(HandlerError::non_retryable("no use")) }).unwrap();
    worker.register("test.panics", |_| async { if true { panic!("planned") } else { Ok(()) } }).unwrap();
    let worker = worker.start();
    let last = client.enqueue("test.final", ()).await.unwrap();
    assert_eq!(job_in(&client, &last.id, JobState::Discarded).await.errors[0].message, "no use");
    let unknown = client.enqueue("test.unknown", ()).await.unwrap();
    assert_eq!(job_in(&client, &unknown.id, JobState::Discarded).await.errors[0].code, "no_handler");
    // A panic costs one attempt, never the worker.
    let panics = client.enqueue("test.panics", ()).retry(quick_retry(2)).await.unwrap();
    assert_eq!(job_in(&client, &panics.id, JobState::Discarded).await.errors[1].code, "handler_panic");
    worker.shutdown(None).await;
}

#[tokio::test]
async fn a_snoozed_job_comes_back_without_a_failure() {
    let (_server, client) = start().await;
    let worker = Worker::for_client(&client);
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    worker
        .register("test.snooze", move |_| {
            let run = counted.fetch_add(1, Ordering::SeqCst);
            async move { if run == 0 { Err(HandlerError::snooze(Duration::from_millis(50))) } else { Ok(()) } }
        })
        .unwrap();
    let worker = worker.start();
    let job = client.enqueue("test.snooze", ()).retry(quick_retry(1)).await.unwrap();
    let done = job_in(&client, &job.id, JobState::Completed).await;
    assert_eq!((runs.load(Ordering::SeqCst), done.errors.len()), (2, 0));
    worker.shutdown(None).await;
}

#[tokio::test]
async fn a_cancelled_job_stops_its_handler() {
    let (_server, client) = start().await;
    let (started, mut starts) = mpsc::unbounded_channel();
    let (stopped, mut stops) = mpsc::unbounded_channel();
    let worker = Worker::builder()
        .url(_server.url())
        .options(|options| options.heartbeat_interval(Duration::from_millis(50)))
        .build()
        .await
        .unwrap();
    worker
        .register("test.endless", move |ctx| {
            let (started, stopped) = (started.clone(), stopped.clone());
            async move {
                started.send(())?;
                ctx.cancelled().await;
                stopped.send(ctx.cancel_reason())?;
                Ok(())
            }
        })
        .unwrap();
    let worker = worker.start();
    let job = client.enqueue("test.endless", ()).await.unwrap();
    starts.recv().await.unwrap();
    assert_eq!(client.cancel_job(&job.id).await.unwrap().state, JobState::Cancelled);
    assert_eq!(stops.recv().await.unwrap(), Some(ojs::dispatch::CancelReason::Cancelled));
    worker.shutdown(None).await;
    assert_eq!(client.get_job(&job.id).await.unwrap().state, JobState::Cancelled, "the late ack changed nothing");
}

#[tokio::test]
async fn a_paused_queue_hands_out_nothing_until_it_is_resumed() {
    let (_server, client) = start().await;
    let (ran, mut runs) = mpsc::unbounded_channel();
    let worker = Worker::for_client(&client);
    worker
        .register("test.plain", move |ctx| {
            let ran = ran.clone();
            async move { Ok(ran.send(ctx.id().to_owned())?) }
        })
        .unwrap();
    client.pause_queue("default").await.unwrap();
    let worker = worker.start();
    let job = client.enqueue("test.plain", ()).await.unwrap();
    let stats = client.queue_stats("default").await.unwrap();
    assert_eq!((stats.paused, stats.available, stats.active), (true, 1, 0));
    client.resume_queue("default").await.unwrap();
    assert_eq!(runs.recv().await.unwrap(), job.id);
    worker.shutdown(None).await;
}

#[tokio::test]
async fn a_stopping_worker_finishes_what_runs_and_gives_back_what_does_not_end() {
    let (_server, client) = start().await;
    let (started, mut starts) = mpsc::unbounded_channel();
    let (finish, finished) = oneshot::channel::<()>();
    let finished = Arc::new(std::sync::Mutex::new(Some(finished)));
    let worker = Worker::for_client(&client);
    let begun = started.clone();
    worker
        .register("test.short", move |_| {
            let (begun, finished) = (begun.clone(), finished.lock().unwrap().take());
            async move {
                begun.send(())?;
                Ok(finished.unwrap().await?)
            }
        })
        .unwrap();
    worker
        .register("test.endless", move |_| {
            let started = started.clone();
            async move {
                started.send(())?;
                std::future::pending::<Result<(), HandlerError>>().await
            }
        })
        .unwrap();
    let worker = worker.start();
    let short = client.enqueue("test.short", ()).await.unwrap();
    let endless = client.enqueue("test.endless", ()).await.unwrap();
    for _ in 0..2 {
        starts.recv().await.unwrap();
    }
    // Longer than any machine takes for what is in between; the second stop ends it.
    worker.stop(Some(HOUR));
    let late = client.enqueue("test.short", ()).await.unwrap();
    finish.send(()).unwrap();
    job_in(&client, &short.id, JobState::Completed).await;
    worker.shutdown(None).await;
    assert_eq!(client.get_job(&short.id).await.unwrap().state, JobState::Completed);
    let returned = client.get_job(&endless.id).await.unwrap();
    assert_eq!((returned.state, returned.errors.len()), (JobState::Available, 0), "given back at once, and no failure charged");
    assert_eq!(client.get_job(&late.id).await.unwrap().state, JobState::Available, "a stopping worker fetches no more");
}

#[tokio::test]
async fn an_idle_worker_starts_a_job_at_once() {
    let (_server, client) = start().await;
    let (ran, mut runs) = mpsc::unbounded_channel();
    // One that polls looks once an hour.
    let options = |options: ojs::worker::WorkerOptions| options.poll_interval(HOUR, HOUR);
    let worker = Worker::new(Arc::clone(client.transport()), options(ojs::worker::WorkerOptions::default()));
    worker
        .register("test.plain", move |_| {
            let ran = ran.clone();
            async move { Ok(ran.send(())?) }
        })
        .unwrap();
    let worker = worker.start();
    // Fifty one after the other: a long poll that is not woken ends after 20 s, and that would happen for each of them.
    for _ in 0..50 {
        client.enqueue("test.plain", ()).await.unwrap();
        let ran = tokio::time::timeout(Duration::from_secs(18), runs.recv()).await;
        ran.expect("the worker is woken, it does not poll").unwrap();
    }
    worker.shutdown(None).await;
    until("all are completed", || async { client.queue_stats("default").await.ok().filter(|stats| stats.completed == 50) }).await;
}

/// A request that is only half there when the server begins to end is refused before it does anything, and told to come back.
#[tokio::test]
async fn a_request_that_arrives_during_the_end_is_refused() {
    for tries_left in (0..5).rev() {
        let mut server = ServerProcess::sqlite().await;
        let answer = half_a_request(&server).await;
        assert_eq!(server.ended().await.code(), Some(0));
        let answer = match answer {
            Ok(answer) => answer,
            // The signal has overtaken the first half: its connection was closed as one that has never said anything.
            Err(error) if tries_left > 0 && error.kind() != std::io::ErrorKind::TimedOut => continue,
            Err(error) => panic!("{error}"),
        };
        assert_eq!((answer.status, answer.code()), (503, "backend_unavailable".to_owned()));
        assert!(answer.header("retry-after").is_some(), "{:?}", answer.headers);
        let again = server.again().await;
        let stats = again.connect().await.get("/queues/default/stats").await.expect(200).json();
        assert_eq!(stats["queue"]["total"], 0);
        return;
    }
}

/// Sends the first half of a request, has the server end, sends the other half.
async fn half_a_request(server: &ServerProcess) -> std::io::Result<Answer> {
    let mut late = server.connect().await;
    let body = json!({"type": "test.plain", "args": []}).to_string();
    late.send("POST /ojs/v1/jobs HTTP/1.1\r\nHost: test\r\n").await?;
    // Accepted behind the one above: its half has been seen by then, unless its thread had to wait for a processor.
    server.connect().await.get("/health").await.expect(200);
    server.signal(rustix::process::Signal::TERM);
    until("it listens no more", || async { Wire::connect(server.address()).await.is_err().then_some(()) }).await;
    late.send(format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())).await?;
    late.answer().await
}
