//! The whole way through the real engine: in memory, in a file, and over HTTP.
#![cfg(all(feature = "embedded", feature = "http"))]
mod connections;

use std::sync::Arc;
use std::time::Duration;

use ojs::testing::TestServer;
use ojs::worker::{WorkerHandle, WorkerOptions};
use ojs::{
    Client, HandlerError, JobContext, JobRequest, JobState, OnConflict, OnExhaustion, Page, RetryPolicy, UniquePolicy, Worker,
};
use serde_json::json;
use tokio::sync::mpsc;

/// A place to run the tests in, and what keeps it alive.
struct Place {
    client: Client,
    _folder: Option<tempfile::TempDir>,
    _server: Option<TestServer>,
    _database: Option<ojs_postgres_fixture::Database>,
}

impl Place {
    async fn at(url: &str) -> Self {
        Self { client: Client::connect(url).await.unwrap(), _folder: None, _server: None, _database: None }
    }
}

async fn memory() -> Place {
    Place::at("memory:").await
}

async fn file() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("jobs.db").display());
    Place { _folder: Some(folder), ..Place::at(&url).await }
}

async fn postgres() -> Place {
    let database = ojs_postgres_fixture::database();
    let place = Place::at(database.url()).await;
    Place { _database: Some(database), ..place }
}

async fn http() -> Place {
    let server = TestServer::start().await.unwrap();
    let place = Place::at(server.url()).await;
    Place { _server: Some(server), ..place }
}

macro_rules! everywhere {
    ($($test:ident),+ $(,)?) => {
        mod in_memory { $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)] async fn $test() { super::$test(super::memory().await).await; })+ }
        mod in_a_file { $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)] async fn $test() { super::$test(super::file().await).await; })+ }
        mod in_postgres { $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)] async fn $test() { super::$test(super::postgres().await).await; })+ }
        mod over_http { $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)] async fn $test() { super::$test(super::http().await).await; })+ }
    };
}

everywhere![
    jobs_are_looked_up_and_cancelled,
    batches_are_all_or_nothing,
    a_thousand_jobs_run_once_each,
    failures_are_retried_and_end_as_dead_letters,
    a_job_is_cancelled_while_it_runs,
    unfinished_jobs_come_back_at_once,
    a_worker_that_waits_picks_up_at_once,
    duplicates_are_refused,
    a_result_is_waited_for,
    dead_letters_are_retried_and_deleted_by_the_many,
    many_jobs_have_outcomes_of_their_own,
    queues_are_set_up_and_purged,
    events_are_followed,
];

fn worker(client: &Client, slots: usize) -> Worker {
    Worker::new(
        Arc::clone(client.transport()),
        WorkerOptions::default().concurrency(slots).heartbeat_interval(Duration::from_millis(50)),
    )
}

/// Waits for the server to show a job in a state; the events in between come from the test's own handlers.
async fn until(client: &Client, id: &str, state: JobState) -> ojs::Job {
    let mut pause = tokio::time::interval(Duration::from_millis(5));
    tokio::time::timeout(Duration::from_secs(60), async {
        loop {
            let job = client.get_job(id).await.unwrap();
            if job.state == state {
                return job;
            }
            pause.tick().await;
        }
    })
    .await
    .unwrap_or_else(|_| panic!("job {id} never became {state}"))
}

async fn jobs_are_looked_up_and_cancelled(place: Place) {
    let client = &place.client;
    let job =
        client.enqueue("email.send", ("a@example.com", 1.5)).queue("mail").priority(5).meta("k", "v").tags(["t"]).await.unwrap();
    assert_eq!((job.state.clone(), job.queue.as_str(), job.priority), (JobState::Available, "mail", 5));
    let same = client.get_job(&job.id).await.unwrap();
    assert_eq!(
        (same.args.as_str(), same.meta.as_str(), same.tags.as_slice()),
        (r#"["a@example.com",1.5]"#, r#"{"k":"v"}"#, &["t".to_owned()][..])
    );
    assert_eq!(client.queue_stats("mail").await.unwrap().available, 1);
    assert_eq!(client.cancel(&job.id).await.unwrap().state, JobState::Cancelled);
    assert!(client.cancel(&job.id).await.unwrap_err().is_invalid_state_transition());
    assert!(client.get_job("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f").await.unwrap_err().is_not_found());
    let pending = client.enqueue("email.send", ()).pending().await.unwrap();
    assert_eq!(pending.state, JobState::Pending);
    assert_eq!(client.activate(&pending.id).await.unwrap().state, JobState::Available);
    let later = client.enqueue("email.send", ()).delay(Duration::from_secs(3600)).await.unwrap();
    assert_eq!(later.state, JobState::Scheduled);
    assert_eq!(client.manifest().await.unwrap()["specversion"], "1.0");
    assert_eq!(client.health().await.unwrap()["status"], "ok");
    assert!(client.list_queues().await.unwrap().iter().any(|queue| queue.name == "default"));
}

async fn batches_are_all_or_nothing(place: Place) {
    let client = &place.client;
    let error = client.enqueue_batch([JobRequest::new("good.one", ()), JobRequest::new("BAD", ())]).await.unwrap_err();
    assert_eq!(error.ojs().unwrap().details.as_ref().unwrap()["index"], 1);
    assert_eq!(client.queue_stats("default").await.unwrap().available, 0);
    let jobs = client.enqueue_batch((0..3).map(|n| JobRequest::new("good.one", n))).await.unwrap();
    assert_eq!(jobs.iter().flatten().map(|job| job.args.as_str()).collect::<Vec<_>>(), ["[0]", "[1]", "[2]"]);
}

async fn a_thousand_jobs_run_once_each(place: Place) {
    const JOBS: u64 = 1000;
    let client = &place.client;
    let worker = worker(client, 20);
    let (ran, mut runs) = mpsc::unbounded_channel();
    worker
        .register("count.up", move |ctx: JobContext| {
            let ran = ran.clone();
            async move {
                ran.send(ctx.arg::<u64>(0)?)?;
                Ok(json!({"n": ctx.arg::<u64>(0)?}))
            }
        })
        .unwrap();
    let handle = worker.start();
    let jobs = client.enqueue_batch((0..JOBS).map(|n| JobRequest::new("count.up", n))).await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < JOBS as usize {
        seen.push(tokio::time::timeout(Duration::from_secs(60), runs.recv()).await.expect("jobs run").unwrap());
    }
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..JOBS), "each once");
    handle.shutdown(None).await;
    assert!(runs.try_recv().is_err());
    let last = client.get_job(&jobs.last().unwrap().as_ref().unwrap().id).await.unwrap();
    assert_eq!((last.state, last.result.unwrap().to_value()), (JobState::Completed, json!({"n": JOBS - 1})));
    assert_eq!(client.queue_stats("default").await.unwrap().completed, JOBS);
}

async fn failures_are_retried_and_end_as_dead_letters(place: Place) {
    let client = &place.client;
    let worker = worker(client, 2);
    worker
        .register("always.fails", |ctx: JobContext| async move {
            Err::<(), _>(HandlerError::new(format!("attempt {}", ctx.attempt())).with_kind("Broken"))
        })
        .unwrap();
    let handle = worker.start();
    let policy = RetryPolicy::new()
        .max_attempts(3)
        .initial_interval(Duration::from_millis(10))
        .jitter(false)
        .on_exhaustion(OnExhaustion::DeadLetter);
    let job = client.enqueue("always.fails", ()).retry(policy).await.unwrap();
    let dead = until(client, &job.id, JobState::Discarded).await;
    assert_eq!(
        dead.errors.iter().map(|error| error.message.as_str()).collect::<Vec<_>>(),
        ["attempt 1", "attempt 2", "attempt 3"]
    );
    assert_eq!(dead.error.unwrap().kind, "Broken");
    let unknown = client.enqueue("nobody.knows", ()).await.unwrap();
    assert_eq!(until(client, &unknown.id, JobState::Discarded).await.error.unwrap().code, "no_handler");
    handle.shutdown(None).await;
    // The newest first. A job without a handler is kept whatever its policy says: a worker with the handler may come.
    let dead: Vec<String> =
        client.list_dead_letters(None, Page::default()).await.unwrap().into_iter().map(|dead| dead.id).collect();
    assert_eq!(dead, [unknown.id, job.id.clone()]);
    assert_eq!(client.retry_dead_letter(&job.id).await.unwrap().state, JobState::Available);
    client.cancel(&job.id).await.unwrap();
}

/// A worker whose handler says that it runs and then waits until it is cancelled.
fn patient(client: &Client) -> (WorkerHandle, mpsc::UnboundedReceiver<String>) {
    let worker = worker(client, 1);
    let (said, hears) = mpsc::unbounded_channel();
    worker
        .register("runs.long", move |ctx: JobContext| {
            let said = said.clone();
            async move {
                said.send("running".to_owned())?;
                ctx.cancelled().await;
                said.send(format!("{:?}", ctx.cancel_reason()))?;
                Ok(())
            }
        })
        .unwrap();
    (worker.start(), hears)
}

async fn a_job_is_cancelled_while_it_runs(place: Place) {
    let client = &place.client;
    let (handle, mut hears) = patient(client);
    let job = client.enqueue("runs.long", ()).await.unwrap();
    assert_eq!(hears.recv().await.unwrap(), "running");
    client.cancel(&job.id).await.unwrap();
    assert_eq!(hears.recv().await.unwrap(), "Some(Cancelled)");
    handle.shutdown(None).await;
    assert_eq!(client.get_job(&job.id).await.unwrap().state, JobState::Cancelled);
}

async fn unfinished_jobs_come_back_at_once(place: Place) {
    let client = &place.client;
    let (first, mut hears) = patient(client);
    let job = client.enqueue("runs.long", ()).retry(RetryPolicy::new().max_attempts(1)).await.unwrap();
    assert_eq!(hears.recv().await.unwrap(), "running");
    first.shutdown(Some(Duration::ZERO)).await;
    let (second, mut hears) = patient(client);
    assert_eq!(hears.recv().await.unwrap(), "running", "the only attempt was not charged");
    second.shutdown(Some(Duration::ZERO)).await;
    assert_eq!(client.get_job(&job.id).await.unwrap().state, JobState::Available);
}

async fn a_worker_that_waits_picks_up_at_once(place: Place) {
    let client = &place.client;
    let worker = worker(client, 1);
    let (ran, mut runs) = mpsc::unbounded_channel();
    worker
        .register("wake.up", move |_| {
            let ran = ran.clone();
            async move {
                ran.send(())?;
                Ok(())
            }
        })
        .unwrap();
    let handle = worker.start();
    for _ in 0..20 {
        client.enqueue("wake.up", ()).await.unwrap();
        tokio::time::timeout(Duration::from_secs(15), runs.recv()).await.expect("woken, not polled").unwrap();
    }
    handle.shutdown(None).await;
}

async fn duplicates_are_refused(place: Place) {
    let client = &place.client;
    let policy = || UniquePolicy::by(["type", "args"]).period(Duration::from_secs(3600));
    let first = client.enqueue("once.only", 1).unique(policy()).await.unwrap();
    let error = client.enqueue("once.only", 1).unique(policy()).await.unwrap_err();
    assert!(error.is_duplicate());
    assert_eq!(error.ojs().unwrap().details.as_ref().unwrap()["existing_job_id"], json!(first.id));
    let same = client.enqueue("once.only", 1).unique(policy().on_conflict(OnConflict::Ignore)).await.unwrap();
    assert_eq!(same.id, first.id);
    client.enqueue("once.only", 2).unique(policy()).await.unwrap();
}

async fn a_result_is_waited_for(place: Place) {
    let client = &place.client;
    let worker = worker(client, 1);
    worker
        .register("add", |ctx: JobContext| async move {
            let (a, b): (i64, i64) = ctx.args()?;
            Ok(json!(a + b))
        })
        .unwrap();
    let job = client.enqueue("add", (2, 3)).await.unwrap();
    assert_eq!(client.result(&job.id).await.unwrap_err().status(), Some(408));
    assert_eq!(client.wait_for_result(&job.id, Duration::ZERO).await.unwrap_err().status(), Some(408));
    let (found, handle) = tokio::join!(client.wait_for_result(&job.id, Duration::from_secs(30)), async { worker.start() });
    let found = found.unwrap();
    assert_eq!((found.state, found.result.unwrap().as_str()), (JobState::Completed, "5"));
    assert!(found.expires_at > found.stored_at);
    let unknown = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f";
    let results = client.results(&[unknown, &job.id]).await.unwrap();
    assert!(results[0].is_none());
    assert_eq!(results[1].as_ref().unwrap().result.as_ref().unwrap().as_str(), "5");
    assert!(client.result(unknown).await.unwrap_err().is_not_found());
    handle.shutdown(None).await;
}

async fn dead_letters_are_retried_and_deleted_by_the_many(place: Place) {
    let client = &place.client;
    for kind in ["a", "a", "b"] {
        let policy = RetryPolicy::default().max_attempts(1).on_exhaustion(OnExhaustion::DeadLetter);
        client.enqueue(kind, ()).retry(policy).await.unwrap();
        let fetched =
            client.call(ojs::transport::Method::POST, "/workers/fetch", Some(r#"{"queues":["default"]}"#.into())).await.unwrap();
        let fetched: serde_json::Value = serde_json::from_slice(&fetched).unwrap();
        let nack = json!({"job_id": fetched["job"]["id"], "error": {"code": "x", "message": "m"}}).to_string();
        client.call(ojs::transport::Method::POST, "/workers/nack", Some(nack.into())).await.unwrap();
    }
    let only = |kind: &str| ojs::DeadLetterFilter { job_type: Some(kind.to_owned()), ..Default::default() };
    assert_eq!(client.retry_dead_letters(&only("b")).await.unwrap(), 1);
    let left = client.list_dead_letters(None, Page::default()).await.unwrap();
    let again = client.retry_dead_letter_with(&left[0].id, &json!({"queue": "other", "args": [1]})).await.unwrap();
    assert_eq!((again.queue.as_str(), again.args.as_str()), ("other", "[1]"));
    assert_eq!(client.delete_dead_letters(&only("a")).await.unwrap(), 1);
    assert!(client.list_dead_letters(None, Page::default()).await.unwrap().is_empty());
}

async fn many_jobs_have_outcomes_of_their_own(place: Place) {
    let client = &place.client;
    let key = || ojs::BulkOptions { idempotency_key: Some("k".into()), ..Default::default() };
    let id = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f";
    let requests = || {
        [JobRequest::new("a", 1).with_id(id), JobRequest::new("NO SUCH TYPE", ()).with_id("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e10")]
    };
    for _ in 0..2 {
        let answers = client.bulk_enqueue_with(requests(), key()).await.unwrap();
        assert_eq!(answers[0].as_ref().unwrap().as_ref().unwrap().id, id);
        assert_eq!(answers[1].as_ref().unwrap_err().ojs().unwrap().code, "invalid_payload");
    }
    assert_eq!(client.bulk_enqueue_with([JobRequest::new("b", ())], key()).await.unwrap_err().status(), Some(409));
    // Ids that the server makes: the key alone says that it is the same request.
    let mut stored = Vec::new();
    for _ in 0..2 {
        let own = ojs::BulkOptions { idempotency_key: Some("own".into()), ..Default::default() };
        stored.push(client.bulk_enqueue_with([JobRequest::new("c", 1)], own).await.unwrap().remove(0).unwrap().unwrap().id);
    }
    assert_eq!(stored[0], stored[1]);
    let atomic = ojs::BulkOptions { atomic: true, ..Default::default() };
    let refused = client.bulk_enqueue_with([JobRequest::new("a", ()), JobRequest::new("NO", ())], atomic).await.unwrap();
    assert!(refused.iter().all(Result::is_err));
    let done = client.bulk_cancel([id, "nonsense"]).await.unwrap();
    assert_eq!((done.matched, done.succeeded, done.skipped), (2, 1, 1));
    assert!(done.items[0].error.is_none() && done.items[1].error.as_ref().unwrap().is_not_found());
    assert!(client.bulk_retry([id]).await.unwrap().items[0].error.as_ref().unwrap().is_invalid_state_transition());
    let cancelled = ojs::JobFilter { states: vec![JobState::Cancelled], ..Default::default() };
    assert_eq!(client.bulk_delete(cancelled).await.unwrap().succeeded, 1);
    assert_eq!(client.bulk_delete(Vec::<String>::new()).await.unwrap().matched, 0);
    assert_eq!(client.bulk_delete(ojs::JobFilter::default()).await.unwrap_err().status(), Some(400));
}

async fn queues_are_set_up_and_purged(place: Place) {
    let client = &place.client;
    assert_eq!(client.create_queue("mail", &json!({"concurrency": 2})).await.unwrap()["config"]["concurrency"], 2);
    assert_eq!(client.configure_queue("mail", &json!({"max_size": 10})).await.unwrap()["config"]["max_size"], 10);
    client.enqueue("a", ()).queue("mail").await.unwrap();
    client.drain_queue("mail").await.unwrap();
    assert!(client.enqueue("a", ()).queue("mail").await.is_err());
    client.resume_queue("mail").await.unwrap();
    assert_eq!(client.get_queue("mail").await.unwrap()["state"], "active");
    assert_eq!(client.delete_queue("mail", ojs::DeleteQueue::Reject).await.unwrap_err().status(), Some(409));
    assert_eq!(client.purge_queue("mail", &[JobState::Available], Some("PT1H")).await.unwrap(), 0);
    assert_eq!(client.purge_queue("mail", &[JobState::Available], None).await.unwrap(), 1);
    client.enqueue("a", ()).queue("mail").await.unwrap();
    let moved = client.delete_queue("mail", ojs::DeleteQueue::MoveTo("other".into())).await.unwrap();
    assert_eq!(moved["jobs_moved"], 1);
    client.enqueue("a", ()).option("rate_limit", json!({"key": "api", "concurrency": 5})).await.unwrap();
    assert_eq!(client.list_rate_limits().await.unwrap()[0]["key"], "api");
    let changed = client.override_rate_limit("api", &json!({"concurrency": 1, "expires_at": "+PT1H"})).await.unwrap();
    assert_eq!(
        (&changed["concurrency"]["limit"], &client.get_rate_limit("api").await.unwrap()["concurrency"]["limit"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(client.dead_letter_stats().await.unwrap()["total"], 0);
}

async fn events_are_followed(place: Place) {
    let client = &place.client;
    client.enqueue("before", ()).await.unwrap();
    let filter = |after: Option<String>| ojs::EventFilter { types: vec!["job.*".into()], after, ..Default::default() };
    let mut old = client.events(filter(Some(String::new())));
    let first = old.next().await.unwrap().unwrap();
    assert_eq!(first.event_type, "job.enqueued");
    // Waits for what has not happened yet, behind what it has seen.
    let mut behind = client.events(filter(Some(first.id)));
    let (event, job) = tokio::join!(behind.next(), client.enqueue("after", ()));
    assert_eq!(event.unwrap().unwrap().subject, job.unwrap().id);
    let mut refused = client.events(filter(Some("nonsense".into())));
    assert_eq!(refused.next().await.unwrap().unwrap_err().status(), Some(400));
    assert!(refused.next().await.is_none());
}
