//! PostgreSQL taken away in the middle of a command: the engine is dropped, or its connections are cut. What was under way is done or
//! not done, never half; an answer that says which is right.
use std::sync::Arc;
use std::time::Duration;

use ojs_engine::Engine;
use ojs_engine::command::{Claim, Command, Enqueue, Exchange, Exchanged, GetJob, GetQueue, Outcome, OutcomeReport, SetPaused};
use ojs_engine::error::Refusal;
use ojs_engine::error::StoreError;
use ojs_model::{JobId, JobState, NewJob};
use tokio::task::JoinHandle;
use tokio_postgres::Client;

use super::{First, Known, LEASE_MS, Model, QUEUES};
use crate::nodes::application;
use crate::support::Bench;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// The command under way.
#[derive(Debug, Clone, Copy)]
pub enum Flight {
    Enqueue,
    Claim(usize),
    Ack(usize),
}

/// It, and what it is about.
enum Sent {
    Enqueue(JobId),
    Claim(usize),
    Ack(JobId),
}

type Answer = JoinHandle<Result<bool, Refusal>>;

/// The process is gone: its successor finds every command done or not done.
pub async fn crash(b: &mut Bench, model: &mut Model, flight: Flight, looks: u8) {
    let observer = application(b).await;
    let old = backends(&observer).await;
    let holders = Arc::strong_count(&b.clock);
    let (sent, answer) = send(b, model, flight);
    pass(&observer, looks).await;
    // The answer is lost; the command may never have left, or may be carried out all the same.
    answer.abort();
    drop(answer.await);
    let successor = Engine::open(b.engine.options().clone()).await.unwrap();
    b.succeeded_by(successor).await;
    until("the crashed engine's connections end", async || {
        let left = backends(&observer).await;
        !old.iter().any(|pid| left.contains(pid))
    })
    .await;
    // A writer that was cut earlier connects anew for the command: its connection is none of those. Its thread holds the clock until
    // it ends.
    until("the crashed engine's threads end", async || Arc::strong_count(&b.clock) <= holders).await;
    // What waiting for the end of its term would come to: the successor keeps the store now.
    observer.execute("UPDATE ojs_leader SET until = 'epoch'", &[]).await.unwrap();
    let found = look(b, model, sent).await;
    learn(b, model, found);
}

/// The database ends every connection. The engine goes on, and says what it knows of the command.
pub async fn cut(b: &Bench, model: &mut Model, flight: Flight, looks: u8) {
    let observer = application(b).await;
    let (sent, answer) = send(b, model, flight);
    pass(&observer, looks).await;
    let all =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    observer.execute(all, &[]).await.unwrap();
    let answer = tokio::time::timeout(PATIENCE, answer).await.expect("an answer").unwrap();
    let expected = match answer {
        Ok(changed) => Some(changed),
        // The outcome is unknown; the client may ask again with the same id or token.
        Err(Refusal::Store(StoreError::Unknown(_))) => None,
        // "Not carried out" is a promise.
        Err(Refusal::Store(StoreError::Unavailable(_) | StoreError::Conflict(_))) => Some(false),
        Err(other) => panic!("{flight:?}: {other:?}"),
    };
    let again = SetPaused { queue: QUEUES[0].to_owned(), paused: model.paused[0] };
    until("the engine writes again", async || b.engine.store().execute(again.clone()).await.is_ok()).await;
    until("the engine reads again", async || b.engine.store().query(GetQueue(QUEUES[0].to_owned())).await.is_ok()).await;
    let found = look(b, model, sent).await;
    assert!(expected.is_none_or(|expected| expected == found.is_done()), "{flight:?}: told {expected:?}");
    learn(b, model, found);
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !holds().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("in vain: {what}"));
}

/// Lets a random moment pass: each look at the database takes a fraction of a millisecond.
async fn pass(observer: &Client, looks: u8) {
    for _ in 0..looks {
        observer.execute("SELECT 1", &[]).await.unwrap();
    }
}

/// The connections to this database, but for the observer's own.
async fn backends(observer: &Client) -> Vec<i32> {
    let sql = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    observer.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

fn send(b: &Bench, model: &Model, flight: Flight) -> (Sent, Answer) {
    match flight {
        Flight::Ack(pick) => match held(model, pick) {
            Some((id, lease)) => {
                let (outcome, worker) = (Outcome::Ack(None), Some("w".to_owned()));
                let report = OutcomeReport { job: id, lease: Some(lease), worker, outcome, want_job: true };
                (Sent::Ack(id), run(b, Exchange { outcomes: vec![report], claim: None }, changed_any))
            }
            None => send(b, model, Flight::Enqueue),
        },
        Flight::Claim(count) => {
            let queues = vec![QUEUES[0].to_owned()];
            let claim =
                Claim { queues, count, worker: Some("w".to_owned()), visibility_ms: Some(LEASE_MS as u64), ..Claim::default() };
            (Sent::Claim(count), run(b, Exchange { outcomes: Vec::new(), claim: Some(claim) }, changed_any))
        }
        Flight::Enqueue => {
            let id = JobId::now_v7();
            let request = format!(
                r#"{{"id":"{id}","type":"t","args":[],"options":{{"queue":"{}","retry":{}}}}}"#,
                QUEUES[0],
                super::retry()
            );
            let job = NewJob::parse(&request, ojs_model::Timestamp::from_millis(b.now())).unwrap();
            (Sent::Enqueue(id), run(b, Enqueue(vec![Arc::new(job)]), |placed| !placed.is_empty()))
        }
    }
}

/// Sends a command; the answer says whether it tells of a change.
fn run<C: Command>(b: &Bench, command: C, tells: fn(C::Reply) -> bool) -> Answer {
    let engine = b.engine.clone();
    tokio::spawn(async move { engine.store().execute(command).await.map(tells) })
}

fn changed_any(exchanged: Exchanged) -> bool {
    !exchanged.jobs.is_empty() || exchanged.results.iter().any(Result::is_ok)
}

/// A job that runs, and its lease.
fn held(model: &Model, pick: usize) -> Option<(JobId, i64)> {
    let active: Vec<_> = model.jobs.iter().filter(|(_, job)| job.state == JobState::Active).collect();
    active.get(pick % active.len().max(1)).map(|(id, job)| (**id, job.lease))
}

/// What the store has of it.
enum Found {
    Job(JobId, bool),
    Claimed(usize, Vec<(JobId, i64)>),
    Acked(JobId, bool),
}

impl Found {
    fn is_done(&self) -> bool {
        match self {
            Self::Job(_, done) | Self::Acked(_, done) => *done,
            Self::Claimed(_, jobs) => !jobs.is_empty(),
        }
    }
}

async fn look(b: &Bench, model: &Model, sent: Sent) -> Found {
    match sent {
        Sent::Enqueue(id) => Found::Job(id, b.engine.store().query(GetJob(id)).await.is_ok()),
        Sent::Ack(id) => Found::Acked(id, b.state(id).await == JobState::Completed),
        Sent::Claim(count) => {
            let mut claimed = Vec::new();
            for (id, _) in model.jobs.iter().filter(|(_, job)| job.state == JobState::Available && job.queue == 0) {
                let row = b.get(*id).await.row;
                if row.state == JobState::Active {
                    claimed.push((*id, row.lease));
                }
            }
            // The order is unknown. The tokens do not show it: a job's next one is above its last, which another writer
            // may have given.
            claimed.sort_by_key(|(id, _)| model.jobs.get(id).map(|job| (-job.priority, job.entered)));
            Found::Claimed(count, claimed)
        }
    }
}

/// The model learns of it. A claim must be whole, and of the best jobs, although its answer was lost.
fn learn(b: &Bench, model: &mut Model, found: Found) {
    match found {
        Found::Job(id, true) => {
            model.jobs.insert(id, Known::new(0, 0, First::Available, None, model.step, b.now()));
        }
        Found::Acked(id, true) => {
            model.jobs.get_mut(&id).unwrap().state = JobState::Completed;
            model.ended(id, JobState::Active, b.now());
        }
        Found::Claimed(count, jobs) if !jobs.is_empty() => model.claimed(&[0], count, &jobs, b.now()),
        _ => {}
    }
}
