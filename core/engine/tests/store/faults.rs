//! Faults inside: a panic in a thread of the store, a thread that hangs, rows that cannot be read.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use axum::body::Body;
use axum::http::{Request, StatusCode};
use ojs_engine::Engine;
use ojs_engine::clock::{Clock, ManualClock};
use ojs_engine::command::{Enqueue, Exchange, GetQueue, Outcome, OutcomeReport};
use ojs_engine::error::Refusal;
use ojs_engine::error::StoreError;
use ojs_engine::job::JobView;
use ojs_engine::placed::Placed;
use ojs_model::{JobError, JobId, JobState, NewJob, Timestamp};
use serde_json::Value;
use tower::ServiceExt;

use crate::nodes::application;
use crate::support::{Bench, START, options, seconds};

/// A clock that breaks, or stands still, in the thread that writes.
struct BadClock {
    time: ManualClock,
    breaks: AtomicBool,
    hangs: Mutex<bool>,
    released: Condvar,
}

impl BadClock {
    fn new() -> Arc<Self> {
        let time = ManualClock::new(Timestamp::from_millis(START));
        Arc::new(Self { time, breaks: AtomicBool::new(false), hangs: Mutex::new(false), released: Condvar::new() })
    }

    fn hang(&self, hangs: bool) {
        *self.hangs.lock().unwrap() = hangs;
        self.released.notify_all();
    }
}

impl Clock for BadClock {
    fn now(&self) -> Timestamp {
        if std::thread::current().name() == Some("ojs-writer") {
            assert!(!self.breaks.load(Ordering::SeqCst), "the clock is broken");
            drop(self.released.wait_while(self.hangs.lock().unwrap(), |hangs| *hangs).unwrap());
        }
        self.time.now()
    }
}

async fn engine(store: &str, directory: &tempfile::TempDir, clock: &Arc<BadClock>) -> Engine {
    let url = match store {
        "sqlite" => format!("sqlite:{}", directory.path().join("jobs.db").display()),
        other => format!("{other}:"),
    };
    Engine::open(options(&url, Arc::clone(clock) as _)).await.unwrap()
}

async fn enqueue(engine: &Engine) -> Result<Vec<Placed>, Refusal> {
    let job = NewJob::parse(r#"{"type":"t","args":[]}"#, Timestamp::from_millis(START)).unwrap();
    engine.store().execute(Enqueue(vec![Arc::new(job)])).await
}

async fn get(engine: &Engine, path: &str) -> (StatusCode, String) {
    let answer = engine.router().oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
    let status = answer.status();
    let bytes = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

#[tokio::test]
async fn a_panic_in_the_writer_is_answered_counted_and_survived() {
    for store in ["memory", "sqlite"] {
        let (directory, clock) = (tempfile::TempDir::new().unwrap(), BadClock::new());
        let engine = engine(store, &directory, &clock).await;
        enqueue(&engine).await.unwrap();
        clock.breaks.store(true, Ordering::SeqCst);
        for _ in 0..3 {
            let refusal = enqueue(&engine).await.unwrap_err();
            let Refusal::Store(StoreError::Failed(what)) = refusal else { panic!("{refusal:?}") };
            assert!(what.contains("a bug in the engine (the clock is broken)"), "{what}");
        }
        clock.breaks.store(false, Ordering::SeqCst);
        enqueue(&engine).await.unwrap();
        let (status, ready) = get(&engine, "/ready").await;
        assert_eq!(status, StatusCode::OK, "{store}: {ready}");
        let (_, figures) = get(&engine, "/metrics").await;
        let line = figures.lines().find(|line| line.starts_with("ojs_store_panics_total")).expect("it is counted");
        assert!(line.rsplit(' ').next().unwrap().parse::<f64>().unwrap() >= 3.0, "{store}: {line}");
        let (_, counts) = engine.store().query(GetQueue("default".into())).await.unwrap();
        assert_eq!(counts[JobState::Available as usize], 2, "{store}: nothing of what was refused is there");
        engine.close().await;
    }
}

#[tokio::test]
async fn a_writer_that_hangs_is_seen_from_outside() {
    let (directory, clock) = (tempfile::TempDir::new().unwrap(), BadClock::new());
    let engine = engine("sqlite", &directory, &clock).await;
    assert_eq!(get(&engine, "/ready").await.0, StatusCode::OK);
    clock.hang(true);
    let stuck = tokio::spawn({
        let engine = engine.clone();
        async move { enqueue(&engine).await }
    });
    // What was known is believed for a second; then the writer is asked, and does not answer.
    let (status, said) = loop {
        let answer = get(&engine, "/ready").await;
        if answer.0 != StatusCode::OK {
            break answer;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(said.contains("has not answered"), "{said}");
    let (status, health) = get(&engine, "/health").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(health.contains("has not answered") && health.contains("degraded"), "{health}");
    clock.hang(false);
    stuck.await.unwrap().unwrap();
    while get(&engine, "/ready").await.0 != StatusCode::OK {
        tokio::task::yield_now().await;
    }
    engine.close().await;
}

/// Runs SQL on the store's own tables, as damage or another program would.
pub async fn spoil(b: &Bench, sqlite: &str, postgres: &str) {
    b.audited.damaged();
    if b.database.is_some() {
        assert_eq!(application(b).await.execute(postgres, &[]).await.unwrap(), 1);
    } else {
        let connection = rusqlite::Connection::open(b.dir.path().join("jobs.db")).unwrap();
        assert_eq!(connection.execute(sqlite, []).unwrap(), 1);
    }
}

async fn spoil_history(b: &Bench, id: JobId) {
    let hex = id.to_string().replace('-', "");
    spoil(
        b,
        &format!("UPDATE histories SET errors = '[{{' WHERE seq = (SELECT seq FROM jobs WHERE id = x'{hex}')"),
        &format!("UPDATE ojs_histories SET errors = '[{{' WHERE seq = (SELECT seq FROM ojs_jobs WHERE id = '{id}')"),
    )
    .await;
}

fn report(job: &JobView, outcome: Outcome) -> OutcomeReport {
    OutcomeReport { job: job.row.id, lease: Some(job.row.lease), worker: Some("w".into()), outcome, want_job: false }
}

fn failed() -> Outcome {
    let error = serde_json::json!({"code": "x", "message": "m"});
    Outcome::Nack(Box::new(JobError::parse(&error).unwrap()))
}

/// Two jobs that are held, each with one failed attempt in its history.
async fn two_held(b: &Bench) -> [JobView; 2] {
    let with_policy = r#"{"type":"t","args":[],"options":{"queue":"q","retry":{"max_attempts":9,"initial_interval":"PT1S"}}}"#;
    for _ in 0..2 {
        b.enqueue(with_policy).await;
    }
    for job in b.claim(2).await {
        b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    }
    b.advance(seconds(60)).await;
    b.claim(2).await.try_into().unwrap()
}

async fn a_history_that_cannot_be_read_is_refused_and_left_alone(b: Bench) {
    let [bad, good] = two_held(&b).await;
    spoil_history(&b, bad.row.id).await;
    let (results, _) = b.exchange(vec![report(&bad, failed()), report(&good, failed())], None).await;
    let refused = results[0].as_ref().unwrap_err();
    assert_eq!(refused.code, "backend_error", "{refused:?}");
    assert!(refused.message.contains(&bad.row.id.to_string()) && refused.message.contains("cannot be read"), "{refused:?}");
    assert!(results[1].is_ok(), "{:?}", results[1]);
    assert_eq!(b.state(good.row.id).await, JobState::Retryable);
    let left = b.get(bad.row.id).await;
    assert_eq!((left.row.state, left.history.errors.as_str()), (JobState::Active, "[{"));
    // Its result can still be written: nothing needs to be read for that but the text as it is.
    b.ack(&bad).await.unwrap();
    assert_eq!(b.state(bad.row.id).await, JobState::Completed);
}

async fn a_job_that_cannot_be_read_does_not_stop_the_sweeper(b: Bench) {
    let [bad, good] = two_held(&b).await;
    spoil_history(&b, bad.row.id).await;
    b.advance(seconds(31)).await;
    assert_eq!(b.state(good.row.id).await, JobState::Available, "its lease ran out");
    assert_eq!(b.state(bad.row.id).await, JobState::Active, "left as it is");
    // Once it can be read again, it goes on.
    let hex = bad.row.id.to_string().replace('-', "");
    spoil(
        &b,
        &format!("UPDATE histories SET errors = '[]' WHERE seq = (SELECT seq FROM jobs WHERE id = x'{hex}')"),
        &format!("UPDATE ojs_histories SET errors = '[]' WHERE seq = (SELECT seq FROM ojs_jobs WHERE id = '{}')", bad.row.id),
    )
    .await;
    b.advance(seconds(61)).await;
    assert_eq!(b.state(bad.row.id).await, JobState::Available);
}

async fn a_retry_policy_that_cannot_be_read_is_not_taken_for_the_default(b: Bench) {
    let [bad, _] = two_held(&b).await;
    let hex = bad.row.id.to_string().replace('-', "");
    spoil(
        &b,
        &format!("UPDATE bodies SET retry = '{{}}}}' WHERE seq = (SELECT seq FROM jobs WHERE id = x'{hex}')"),
        &format!("UPDATE ojs_jobs SET retry = '{{}}}}' WHERE id = '{}'", bad.row.id),
    )
    .await;
    let refusal = b.engine.store().execute(Exchange { outcomes: vec![report(&bad, failed())], claim: None }).await;
    let Err(Refusal::Store(fault)) = refusal else { panic!("{refusal:?}") };
    assert!(fault.to_string().contains("retry policy") && fault.to_string().contains(&bad.row.id.to_string()), "{fault}");
    assert_eq!(b.state(bad.row.id).await, JobState::Active);
}

mod sqlite {
    use super::*;
    #[tokio::test]
    async fn a_history_that_cannot_be_read_is_refused_and_left_alone() {
        super::a_history_that_cannot_be_read_is_refused_and_left_alone(Bench::sqlite().await).await;
    }
    #[tokio::test]
    async fn a_job_that_cannot_be_read_does_not_stop_the_sweeper() {
        super::a_job_that_cannot_be_read_does_not_stop_the_sweeper(Bench::sqlite().await).await;
    }
    #[tokio::test]
    async fn a_retry_policy_that_cannot_be_read_is_not_taken_for_the_default() {
        super::a_retry_policy_that_cannot_be_read_is_not_taken_for_the_default(Bench::sqlite().await).await;
    }
}

mod postgres {
    use super::*;
    #[tokio::test]
    async fn a_history_that_cannot_be_read_is_refused_and_left_alone() {
        super::a_history_that_cannot_be_read_is_refused_and_left_alone(Bench::postgres().await).await;
    }
    #[tokio::test]
    async fn a_job_that_cannot_be_read_does_not_stop_the_sweeper() {
        super::a_job_that_cannot_be_read_does_not_stop_the_sweeper(Bench::postgres().await).await;
    }
    #[tokio::test]
    async fn a_retry_policy_that_cannot_be_read_is_not_taken_for_the_default() {
        super::a_retry_policy_that_cannot_be_read_is_not_taken_for_the_default(Bench::postgres().await).await;
    }
}

#[tokio::test]
async fn a_look_after_an_unclean_end_finds_damage_and_delays_no_request() {
    let b = Bench::sqlite().await;
    for _ in 0..200 {
        b.job().await;
    }
    let (path, copy) = (b.dir.path().join("jobs.db"), tempfile::TempDir::new().unwrap());
    // As a killed process leaves it: file and log, and no process has them open.
    rusqlite::Connection::open(&path).unwrap().execute_batch("PRAGMA wal_checkpoint(PASSIVE)").unwrap();
    b.job().await;
    let damaged = copy.path().join("jobs.db");
    std::fs::copy(&path, &damaged).unwrap();
    std::fs::copy(b.dir.path().join("jobs.db-wal"), copy.path().join("jobs.db-wal")).unwrap();
    let root: i64 = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'answers_at'", [], |row| row.get(0))
        .unwrap();
    let mut bytes = std::fs::read(&damaged).unwrap();
    let page = usize::try_from(root - 1).unwrap() * 4096;
    bytes[page] = 0x55;
    std::fs::write(&damaged, bytes).unwrap();
    let engine = Engine::open(options(&format!("sqlite:{}", damaged.display()), Arc::clone(&b.clock) as _)).await.unwrap();
    let check = loop {
        let (_, health) = get(&engine, "/health").await;
        let health: Value = serde_json::from_str(&health).unwrap();
        if health["backend"]["check"]["status"] != "running" {
            break health["backend"]["check"].clone();
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(check["status"], "damaged", "{check}");
    engine.close().await;
    b.engine.close().await;
    // An orderly end leaves nothing to look for.
    let again = Engine::open(options(&format!("sqlite:{}", path.display()), Arc::clone(&b.clock) as _)).await.unwrap();
    assert!(!get(&again, "/health").await.1.contains("check"));
    again.close().await;
}
