//! Workers whose network, shutdown or deployment goes wrong.
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ojs::worker::WorkerEvent;
use ojs::{Client, JobRequest, JobState, OnExhaustion, RetryPolicy, Worker};
use ojs_tests::{ServerProcess, until};
use tokio::sync::{Semaphore, mpsc};

use super::proxy::{Mode, Proxy};

/// How often each job ran.
type Runs = Arc<Mutex<HashMap<String, usize>>>;

fn note(runs: &Runs, id: &str) -> usize {
    let mut runs = runs.lock().unwrap();
    let count = runs.entry(id.to_owned()).or_default();
    *count += 1;
    *count
}

/// Works until all jobs are completed, and stops.
async fn work_off(url: &str, jobs: usize, runs: &Runs) {
    let client = Client::connect(url).await.unwrap();
    let worker = Worker::for_client(&client);
    let runs = Arc::clone(runs);
    worker
        .register("test.plain", move |ctx| {
            let runs = Arc::clone(&runs);
            async move { Ok(note(&runs, ctx.id())) }
        })
        .unwrap();
    let worker = worker.start();
    until("all jobs are completed", || async {
        let stats = client.queue_stats("default").await.ok()?;
        (stats.completed == jobs as u64).then_some(())
    })
    .await;
    worker.shutdown(None).await;
}

async fn enqueue(client: &Client, jobs: usize) {
    for chunk in (0..jobs).collect::<Vec<_>>().chunks(100) {
        client.enqueue_batch(chunk.iter().map(|n| JobRequest::new("test.plain", *n))).await.unwrap();
    }
}

/// Heartbeats fail for a while and come back before the lease runs out: the job is not handed out again, and the only slot is not
/// given to another one meanwhile.
#[tokio::test]
async fn scenario_03_heartbeats_fail_for_a_moment() {
    let server = ServerProcess::sqlite().await;
    let proxy = Proxy::start(server.address()).await;
    let client = Client::connect(&server.url()).await.unwrap();
    let lease = Duration::from_secs(20);
    let worker = Worker::builder()
        .url(proxy.url())
        .options(|options| options.concurrency(1).heartbeat_interval(Duration::from_millis(200)).visibility_timeout(lease))
        .build()
        .await
        .unwrap();
    let (gate, running, most) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (started, mut starts) = mpsc::unbounded_channel();
    {
        let (gate, running, most) = (Arc::clone(&gate), Arc::clone(&running), Arc::clone(&most));
        worker
            .register("test.wait", move |ctx| {
                let (gate, running, most, started) =
                    (Arc::clone(&gate), Arc::clone(&running), Arc::clone(&most), started.clone());
                async move {
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    started.send(ctx.id().to_owned())?;
                    gate.acquire().await?.forget();
                    running.fetch_sub(1, Ordering::SeqCst);
                    Ok(ctx.attempt())
                }
            })
            .unwrap();
    }
    let worker = worker.start();
    let mut events = worker.events();
    let (first, second) = (client.enqueue("test.wait", 1).await.unwrap().id, client.enqueue("test.wait", 2).await.unwrap().id);
    assert_eq!(starts.recv().await.as_ref(), Some(&first));
    let began = std::time::Instant::now();
    proxy.set(Mode::Cut);
    while !matches!(events.recv().await.unwrap(), WorkerEvent::HeartbeatFailed(_)) {}
    proxy.set(Mode::Open);
    // Well behind the lease that was first given: only heartbeats have kept the job.
    until("the lease is kept alive", || async { (began.elapsed() > lease + Duration::from_secs(1)).then_some(()) }).await;
    assert_eq!(client.get_job(&first).await.unwrap().state, JobState::Active);
    gate.add_permits(2);
    for id in [&first, &second] {
        let job =
            until("completed", || async { client.get_job(id).await.ok().filter(|job| job.state == JobState::Completed) }).await;
        assert_eq!(job.attempt, 1, "handed out once");
    }
    assert_eq!(most.load(Ordering::SeqCst), 1, "one slot, one job at a time");
    worker.shutdown(None).await;
}

/// Jobs that wait in the worker for a slot go back when it stops, uncharged and exactly once, while the running one may finish.
#[tokio::test]
async fn scenario_11_what_was_fetched_ahead_goes_back() {
    const JOBS: usize = 400;
    let server = ServerProcess::sqlite().await;
    let client = Client::connect(&server.url()).await.unwrap();
    enqueue(&client, JOBS).await;
    let (runs, gate) = (Runs::default(), Arc::new(Semaphore::new(0)));
    let (reached, mut reaches) = mpsc::unbounded_channel();
    let options = |options: ojs::worker::WorkerOptions| options.concurrency(1).prefetch(Duration::from_secs(1));
    let worker = Worker::builder().url(server.url()).options(options).build().await.unwrap();
    {
        let (runs, gate) = (Arc::clone(&runs), Arc::clone(&gate));
        worker
            .register("test.plain", move |ctx| {
                let (runs, gate, reached) = (Arc::clone(&runs), Arc::clone(&gate), reached.clone());
                async move {
                    let run = note(&runs, ctx.id());
                    // Quick at first, so that the worker fetches ahead; then one that takes its time.
                    if runs.lock().unwrap().len() == 100 {
                        reached.send(())?;
                        gate.acquire().await?.forget();
                    }
                    Ok(run)
                }
            })
            .unwrap();
    }
    let worker = worker.start();
    reaches.recv().await.unwrap();
    worker.stop(None);
    until("only the running job is held", || async {
        let stats = client.queue_stats("default").await.ok()?;
        (stats.active == 1).then_some(())
    })
    .await;
    gate.add_permits(1);
    worker.wait().await;
    let stats = client.queue_stats("default").await.unwrap();
    assert_eq!((stats.active, stats.available, stats.completed), (0, (JOBS - 100) as u64, 100));
    work_off(&server.url(), JOBS, &runs).await;
    let runs = runs.lock().unwrap();
    assert_eq!((runs.len(), runs.values().sum::<usize>()), (JOBS, JOBS), "every job ran once");
}

/// A rolling deployment: a worker that does not know the type yet. The job is not lost from sight, and with a dead-letter policy it
/// waits for the new workers.
#[tokio::test]
async fn scenario_15_an_unknown_type_is_kept() {
    let server = ServerProcess::sqlite().await;
    let client = Client::connect(&server.url()).await.unwrap();
    let old = Worker::for_client(&client);
    old.register("test.old", |_| async { Ok(()) }).unwrap();
    let old = old.start();
    let kept = RetryPolicy::new().max_attempts(5).on_exhaustion(OnExhaustion::DeadLetter);
    let kept = client.enqueue("test.new", ()).retry(kept).send().await.unwrap().id;
    let plain = client.enqueue("test.new", ()).await.unwrap().id;
    for id in [&kept, &plain] {
        let job =
            until("judged", || async { client.get_job(id).await.ok().filter(|job| job.state == JobState::Discarded) }).await;
        let error = job.attribute("error").unwrap().as_str().to_owned();
        assert!(error.contains("no_handler") && error.contains("test.new"), "the reason is kept: {error}");
    }
    old.shutdown(None).await;
    client.retry_dead_letter(&kept).await.unwrap();
    let new = Worker::for_client(&client);
    new.register("test.new", |_| async { Ok(()) }).unwrap();
    let new = new.start();
    until("the new worker runs it", || async { client.get_job(&kept).await.ok().filter(|job| job.state == JobState::Completed) })
        .await;
    new.shutdown(None).await;
}

/// The network goes silent under a fetch that waits, without breaking the connection: the worker does not wait for ever, and clients
/// get an error in time.
#[tokio::test]
async fn scenario_16_and_18_a_silent_connection_is_replaced() {
    let server = ServerProcess::sqlite().await;
    let proxy = Proxy::start(server.address()).await;
    let direct = Client::connect(&server.url()).await.unwrap();
    let through = Client::builder().url(proxy.url()).timeout(Duration::from_secs(1)).connect().await.unwrap();
    let options = |options: ojs::worker::WorkerOptions| options.poll_interval(Duration::from_millis(100), Duration::from_secs(1));
    let worker = Worker::new(Arc::clone(through.transport()), options(ojs::worker::WorkerOptions::default()));
    worker.register("test.plain", |_| async { Ok(()) }).unwrap();
    let worker = worker.start();
    let first = direct.enqueue("test.plain", ()).await.unwrap().id;
    until("the worker works", || async { direct.get_job(&first).await.ok().filter(|job| job.state == JobState::Completed) })
        .await;
    proxy.set(Mode::Silent);
    let began = std::time::Instant::now();
    assert!(through.get_job(&first).await.is_err());
    // Five sends of a second each, and a machine that may stand still meanwhile.
    assert!(began.elapsed() < Duration::from_secs(60), "an error in time: {:?}", began.elapsed());
    proxy.set(Mode::Open);
    let second = direct.enqueue("test.plain", ()).await.unwrap().id;
    let deadline = tokio::time::timeout(Duration::from_secs(90), async {
        while direct.get_job(&second).await.unwrap().state != JobState::Completed {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    deadline.await.expect("the silent fetch was given up");
    worker.shutdown(Some(Duration::from_secs(1))).await;
}

/// A worker is stopped at any moment of its start, its first fetch included: whatever that fetch brings goes back, no lease is left, no
/// stop is lost.
#[tokio::test]
async fn scenario_09_a_stop_during_the_first_fetch_leaves_nothing_behind() {
    const JOBS: usize = 200;
    let server = ServerProcess::sqlite().await;
    let client = Client::connect(&server.url()).await.unwrap();
    enqueue(&client, JOBS).await;
    let runs = Runs::default();
    for round in 0..30_u64 {
        let worker = Worker::builder().url(server.url()).build().await.unwrap();
        let runs = Arc::clone(&runs);
        worker
            .register("test.plain", move |ctx| {
                note(&runs, ctx.id());
                std::future::pending::<Result<(), ojs::HandlerError>>()
            })
            .unwrap();
        let worker = worker.start();
        // Any moment must do, so one after the other is taken.
        tokio::time::sleep(Duration::from_micros(round * 200)).await;
        worker.shutdown(Some(Duration::ZERO)).await;
        // A server that answers after 3 s finds the connection closed, and makes the jobs of that answer available again. A lease that is left is there
        // for 30 s.
        let back = until("all are back", || async {
            let stats = client.queue_stats("default").await.ok()?;
            ((stats.active, stats.available) == (0, JOBS as u64)).then_some(())
        });
        tokio::time::timeout(Duration::from_secs(25), back).await.unwrap_or_else(|_| panic!("a lease is left in round {round}"));
    }
}

/// A handler that does not care about its time-out: the attempt fails all the same, the slot counts as taken for as long as it runs, and
/// what it says in the end changes nothing.
#[tokio::test]
async fn scenario_08_a_handler_ignores_its_time_out() {
    let server = ServerProcess::sqlite().await;
    let client = Client::connect(&server.url()).await.unwrap();
    let options = |options: ojs::worker::WorkerOptions| options.concurrency(2);
    let worker = Worker::builder().url(server.url()).options(options).build().await.unwrap();
    let (gate, running, most) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    {
        let (gate, running, most) = (Arc::clone(&gate), Arc::clone(&running), Arc::clone(&most));
        let slow = move |deaf: bool| {
            let (gate, running, most) = (Arc::clone(&gate), Arc::clone(&running), Arc::clone(&most));
            // Not a future that can be dropped: a task that goes on whatever happens to the one who waits for it.
            let work = tokio::spawn(async move {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                if deaf {
                    gate.acquire().await.unwrap().forget();
                }
                running.fetch_sub(1, Ordering::SeqCst);
            });
            async move { Ok(work.await?) }
        };
        let quick = slow.clone();
        worker.register("test.deaf", move |_| slow(true)).unwrap();
        worker.register("test.plain", move |_| quick(false)).unwrap();
    }
    let worker = worker.start();
    let once = RetryPolicy::new().max_attempts(1);
    let deaf = client.enqueue("test.deaf", ()).retry(once).timeout(Duration::from_secs(1)).send().await.unwrap().id;
    let job =
        until("it is out of time", || async { client.get_job(&deaf).await.ok().filter(|job| job.state == JobState::Discarded) })
            .await;
    let error = job.attribute("error").unwrap().as_str().to_owned();
    assert!(error.contains("timeout"), "{error}");
    enqueue(&client, 20).await;
    until("the others run in the other slot", || async {
        (client.queue_stats("default").await.ok()?.completed == 20).then_some(())
    })
    .await;
    assert!(most.load(Ordering::SeqCst) <= 2, "never more than the slots");
    gate.add_permits(1);
    worker.shutdown(None).await;
    assert_eq!(running.load(Ordering::SeqCst), 0);
    assert_eq!(client.get_job(&deaf).await.unwrap().state, JobState::Discarded, "it had its say too late");
}
