//! Random commands and crashes against an independent reference model, trains included: the same answers, the same
//! claims in the same order, the same states in the end. A failure prints its seed and the shortest run that still
//! fails. Commands of several clients at the same time are in `pairwise`.
//!
//! `OJS_MODEL_SEED` repeats a run, `OJS_MODEL_ROUNDS` asks for more of them.
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use ojs_engine::command::{Activate, Cancel, Outcome, Replay, Reset, SetPaused};
use ojs_engine::error::Refusal;
use ojs_engine::{Engine, StoreUrl};
use ojs_model::{JobId, JobState};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

mod crashes;
mod trains;

use crashes::Flight;
use trains::{Car, TRAINS, Ticket, Train};

use crate::support::{Bench, seconds};

crate::on_every_store!(random_runs_agree_with_the_model);

const MAX_ATTEMPTS: u32 = 3;
const LEASE_MS: i64 = 30_000;
const RETRY_MS: i64 = 10_000;
const DELAY_MS: i64 = 20_000;
const QUEUES: [&str; 2] = ["q", "r"];

/// One command. Numbers stand for jobs and choices, so that any part of a run is a run.
#[derive(Debug, Clone, Copy)]
enum Step {
    Enqueue { queue: usize, priority: i32, first: First, unique: Option<(u8, Conflict)>, ticket: Option<Ticket> },
    Claim { both: bool, count: usize },
    Settle { pick: usize, how: How, stale: bool },
    Beat { pick: usize },
    ByHand { pick: usize, what: ByHand },
    Train { train: usize, hold: bool },
    Pause { queue: usize, paused: bool },
    Wait(u64),
    Crash { flight: Flight, looks: u8 },
    Cut { flight: Flight, looks: u8 },
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum First {
    Available,
    Scheduled,
    Pending,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Conflict {
    Reject,
    Ignore,
    Replace,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum How {
    Ack,
    Nack,
    Final,
    Release,
}

#[derive(Debug, Clone, Copy)]
enum ByHand {
    Cancel,
    Activate,
    Replay,
}

impl Step {
    fn random(rng: &mut StdRng) -> Self {
        let pick = rng.random_range(0..1000);
        match rng.random_range(0..21) {
            0..=5 => Self::Enqueue {
                queue: rng.random_range(0..2),
                priority: rng.random_range(-1..=1),
                first: [First::Available, First::Available, First::Scheduled, First::Pending][rng.random_range(0..4)],
                unique: rng.random_bool(0.3).then(|| {
                    (rng.random_range(0..3), [Conflict::Reject, Conflict::Ignore, Conflict::Replace][rng.random_range(0..3)])
                }),
                ticket: rng.random_bool(0.4).then(|| Ticket::random(rng)),
            },
            6..=9 => Self::Claim { both: rng.random(), count: rng.random_range(1..4) },
            10..=13 => Self::Settle {
                pick,
                how: [How::Ack, How::Nack, How::Nack, How::Final, How::Release][rng.random_range(0..5)],
                stale: rng.random_bool(0.2),
            },
            14 => Self::Beat { pick },
            15 => Self::ByHand { pick, what: [ByHand::Cancel, ByHand::Activate, ByHand::Replay][rng.random_range(0..3)] },
            16 => Self::Pause { queue: rng.random_range(0..2), paused: rng.random() },
            17..=18 => Self::Wait(rng.random_range(0..25)),
            19 => Self::Train { train: rng.random_range(0..TRAINS.len()), hold: rng.random_bool(0.4) },
            _ => {
                let flight = [Flight::Enqueue, Flight::Claim(rng.random_range(1..4)), Flight::Ack(pick)][rng.random_range(0..3)];
                let looks = rng.random_range(0..12);
                if rng.random() { Self::Crash { flight, looks } } else { Self::Cut { flight, looks } }
            }
        }
    }
}

/// What the model knows of a job.
#[derive(Debug, Clone)]
struct Known {
    state: JobState,
    queue: usize,
    priority: i32,
    unique: Option<u8>,
    lease: i64,
    /// When time does something to it: due, or end of the lease.
    due: i64,
    failures: u32,
    /// When it became available: the moment, counted in steps. Jobs of one moment have no order among them.
    entered: usize,
    /// Order of creation.
    born: usize,
    /// When its latest attempt began.
    claimed_at: i64,
    /// What it becomes when it is its turn in its train.
    first: First,
    ticket: Option<Ticket>,
    car: Car,
}

impl Known {
    /// A new job that has joined no train yet.
    fn new(queue: usize, priority: i32, first: First, unique: Option<u8>, step: usize, now: i64) -> Self {
        let state = match first {
            First::Available => JobState::Available,
            First::Scheduled => JobState::Scheduled,
            First::Pending => JobState::Pending,
        };
        Self {
            state,
            queue,
            priority,
            unique,
            lease: 0,
            due: now + DELAY_MS,
            failures: 0,
            entered: step,
            born: step,
            claimed_at: 0,
            first,
            ticket: None,
            car: Car::Left,
        }
    }
}

/// The protocol, in as few words as possible.
#[derive(Default)]
struct Model {
    jobs: BTreeMap<JobId, Known>,
    paused: [bool; 2],
    step: usize,
    /// Latest heartbeat of the only worker.
    beat: Option<i64>,
    trains: [Train; TRAINS.len()],
}

impl Model {
    fn picked(&self, pick: usize) -> Option<JobId> {
        let count = self.jobs.len();
        (count > 0).then(|| self.jobs.keys().nth(pick % count).copied()).flatten()
    }

    fn enter(step: usize, known: &mut Known) {
        (known.state, known.entered) = (JobState::Available, step);
    }

    /// The newest job with this key that has not ended.
    /// Unended jobs of a key, the newest first. There is more than one when an operator has run one again.
    fn conflicting(&self, key: u8) -> Vec<JobId> {
        let alive = self.jobs.iter().filter(|(_, job)| job.unique == Some(key) && !job.state.is_terminal());
        let mut found: Vec<_> = alive.map(|(id, job)| (job.born, *id)).collect();
        found.sort_unstable_by_key(|(born, _)| std::cmp::Reverse(*born));
        found.into_iter().map(|(_, id)| id).collect()
    }

    /// Claims must be the best jobs of the queues, in order.
    fn claimed(&mut self, queues: &[usize], count: usize, claimed: &[(JobId, i64)], now: i64) {
        let rank = |known: &Known| (queues.iter().position(|q| *q == known.queue), -known.priority, known.entered);
        let open =
            |known: &Known| known.state == JobState::Available && queues.contains(&known.queue) && !self.paused[known.queue];
        let mut ranks: Vec<_> = self.jobs.values().filter(|known| open(known)).map(rank).collect();
        ranks.sort_unstable();
        ranks.truncate(count);
        let got: Vec<_> = claimed
            .iter()
            .map(|(id, _)| {
                let known = &self.jobs[id];
                assert!(open(known), "handed out: {known:?}");
                rank(known)
            })
            .collect();
        assert_eq!(got, ranks, "the best jobs, in order");
        for (id, lease) in claimed {
            let known = self.jobs.get_mut(id).unwrap();
            assert!(*lease > known.lease, "leases only grow");
            (known.state, known.lease, known.due) = (JobState::Active, *lease, now + LEASE_MS);
            known.claimed_at = now;
        }
    }

    /// What time does.
    fn pass(&mut self, now: i64) {
        // A worker that has sent heartbeats and stops loses what it holds, and is forgotten.
        let dead = self.beat.take_if(|at| *at + LEASE_MS <= now).is_some();
        let mut ended = Vec::new();
        for (id, known) in &mut self.jobs {
            match known.state {
                JobState::Scheduled | JobState::Retryable if known.due <= now => Self::enter(self.step, known),
                JobState::Active if known.due <= now || dead => {
                    known.failures += 1;
                    if known.failures >= MAX_ATTEMPTS {
                        known.state = JobState::Discarded;
                        ended.push(*id);
                    } else {
                        Self::enter(self.step, known);
                    }
                }
                _ => {}
            }
        }
        for id in ended {
            self.ended(id, JobState::Active, now);
        }
        self.drained(dead, now);
    }
}

async fn random_runs_agree_with_the_model(mut b: Bench) {
    let number = |name: &str, default| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let (first, rounds) = (number("OJS_MODEL_SEED", rand::rng().random_range(0..1_000_000)), number("OJS_MODEL_ROUNDS", 6));
    for seed in first..first + rounds {
        let mut rng = StdRng::seed_from_u64(seed);
        let steps: Vec<Step> = (0..400).map(|_| Step::random(&mut rng)).collect();
        if let Err(fault) = play(&mut b, &steps).await {
            let shortest = shrink(&mut b, steps).await;
            panic!("OJS_MODEL_SEED={seed}: {fault}\nthe shortest run that fails:\n{shortest:#?}");
        }
    }
}

/// Leaves out steps as long as the run still fails.
async fn shrink(b: &mut Bench, mut steps: Vec<Step>) -> Vec<Step> {
    let mut size = steps.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(at..(at + size).min(steps.len()));
            if play(b, &fewer).await.is_err() {
                steps = fewer;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    steps
}

/// Plays a run on an empty store; an error says where the two disagree.
async fn play(b: &mut Bench, steps: &[Step]) -> Result<(), String> {
    b.engine.store().execute(Reset).await.unwrap();
    let mut model = Model::default();
    for (index, step) in steps.iter().enumerate() {
        model.step = index;
        let played = AssertUnwindSafe(one(b, *step, &mut model)).catch_unwind().await;
        played.map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic".to_owned());
            format!("step {index}, {step:?}: {text}")
        })?;
    }
    for (id, known) in &model.jobs {
        let state = b.state(*id).await;
        if state != known.state {
            return Err(format!("in the end: {state} for {known:?}"));
        }
    }
    let findings = b.engine.audit().await.unwrap().findings;
    if findings.is_empty() { Ok(()) } else { Err(format!("the store contradicts itself: {findings:#?}")) }
}

async fn one(b: &mut Bench, step: Step, model: &mut Model) {
    match step {
        Step::Enqueue { queue, priority, first, unique, ticket } => {
            let known = Known { ticket, ..Known::new(queue, priority, first, unique.map(|(key, _)| key), model.step, b.now()) };
            enqueue(b, model, known, unique.map(|(_, conflict)| conflict)).await;
        }
        Step::Claim { both, count } => {
            let queues: &[usize] = if both { &[1, 0] } else { &[0] };
            let names: Vec<&str> = queues.iter().map(|queue| QUEUES[*queue]).collect();
            let jobs = b.claim_for(Some("w"), &names, count).await;
            let claimed: Vec<_> = jobs.iter().map(|job| (job.row.id, job.row.lease)).collect();
            model.claimed(queues, count, &claimed, b.now());
        }
        Step::Settle { pick, how, stale } => settle(b, model, pick, how, stale).await,
        Step::Beat { pick } => {
            let Some(id) = model.picked(pick) else { return };
            let before = model.beat.replace(b.now());
            let known = model.jobs.get_mut(&id).unwrap();
            let (extended, _) = b.beat("w", &[(id, Some(known.lease))]).await;
            let held = known.state == JobState::Active;
            assert_eq!(!extended.is_empty(), held, "only what is held is extended");
            if held {
                known.due = b.now() + LEASE_MS;
            }
            model.beaten(id, before, b.now());
        }
        Step::Train { train, hold } => model.operate(b, train, hold).await,
        Step::ByHand { pick, what } => by_hand(b, model, pick, what).await,
        Step::Pause { queue, paused } => {
            b.engine.store().execute(SetPaused { queue: QUEUES[queue].to_owned(), paused }).await.unwrap();
            model.paused[queue] = paused;
        }
        Step::Wait(time) => {
            b.advance(seconds(time)).await;
            model.pass(b.now());
        }
        // No goodbye: what was confirmed must be there all the same. Memory forgets, as it says.
        Step::Crash { flight, looks } => {
            match b.engine.options().store {
                StoreUrl::Sqlite { .. } => b.succeeded_by(Engine::open(b.engine.options().clone()).await.unwrap()).await,
                StoreUrl::Postgres { .. } => crashes::crash(b, model, flight, looks).await,
                StoreUrl::Memory => return,
            }
            // A restart takes time: the order within one millisecond is that of one process.
            b.advance(std::time::Duration::from_millis(1)).await;
            model.pass(b.now());
        }
        Step::Cut { flight, looks } if matches!(b.engine.options().store, StoreUrl::Postgres { .. }) => {
            crashes::cut(b, model, flight, looks).await;
        }
        Step::Cut { .. } => {}
    }
    for (queue, name) in QUEUES.iter().enumerate() {
        let mut expected = [0_i64; 8];
        for known in model.jobs.values().filter(|known| known.queue == queue) {
            expected[known.state as usize] += 1;
        }
        assert_eq!(b.counts(name).await, expected, "counts of {name}");
    }
    // Each look at the trains reads all their jobs.
    if model.step % 10 == 9 {
        model.check_trains(b).await;
    }
}

fn retry() -> String {
    format!(r#"{{"max_attempts":{MAX_ATTEMPTS},"initial_interval":"PT10S","backoff_strategy":"constant","jitter":false}}"#)
}

async fn enqueue(b: &Bench, model: &mut Model, known: Known, conflict: Option<Conflict>) {
    let when = match known.first {
        First::Available => "",
        First::Scheduled => r#","delay_until":"+PT20S""#,
        First::Pending => r#","pending":true"#,
    };
    let (kind, policy) = match (known.unique, conflict) {
        (Some(key), Some(conflict)) => (
            format!("u{key}"),
            format!(r#","unique":{{"keys":["type"],"on_conflict":"{}"}}"#, format!("{conflict:?}").to_lowercase()),
        ),
        _ => ("t".to_owned(), String::new()),
    };
    let (name, priority, retry) = (QUEUES[known.queue], known.priority, retry());
    let train = known.ticket.map_or(String::new(), Ticket::option);
    let request = format!(
        r#"{{"type":"{kind}","args":[],"options":{{"queue":"{name}","priority":{priority},"retry":{retry}{when}{policy}{train}}}}}"#
    );
    let answer = b.try_enqueue(&[&request]).await;
    let existing = known.unique.map(|key| model.conflicting(key)).unwrap_or_default();
    let mut replaced = Vec::new();
    match (existing.first().copied(), conflict) {
        (Some(_), Some(Conflict::Reject)) => {
            assert!(matches!(answer, Err(Refusal::Ojs(error)) if error.status == 409), "a duplicate is refused");
            return;
        }
        (Some(id), Some(Conflict::Ignore)) => {
            assert_eq!(answer.unwrap()[0].row.id, id, "the existing job is the answer");
            return;
        }
        (Some(_), Some(Conflict::Replace)) => replaced = existing,
        _ => {}
    }
    let row = answer.unwrap().remove(0).row;
    model.jobs.insert(row.id, known);
    model.replaced(replaced, b.now());
    model.join(row.id, b.now());
    assert_eq!(row.state, model.jobs[&row.id].state);
}

async fn settle(b: &Bench, model: &mut Model, pick: usize, how: How, stale: bool) {
    let Some(id) = model.picked(pick) else { return };
    let (step, known) = (model.step, model.jobs.get_mut(&id).unwrap());
    let lease = if stale { known.lease - 1 } else { known.lease };
    let error = |retryable: bool| {
        let mut error = ojs_model::JobError::engine(ojs_model::ErrorCode::HandlerError, "m");
        error.retryable = retryable;
        Outcome::Nack(Box::new(error))
    };
    let spent = known.failures + 1 >= MAX_ATTEMPTS;
    let (outcome, next) = match how {
        How::Ack => (Outcome::Ack(None), JobState::Completed),
        How::Release => (Outcome::Release(0), JobState::Available),
        How::Nack => (error(true), if spent { JobState::Discarded } else { JobState::Retryable }),
        How::Final => (error(false), JobState::Discarded),
    };
    let answer = b.settle(id, Some(lease), outcome).await;
    if !stale && known.state == JobState::Active {
        assert_eq!(answer.unwrap().row.state, next);
        known.failures += u32::from(matches!(how, How::Nack | How::Final));
        known.due = b.now() + RETRY_MS;
        if next == JobState::Available {
            Model::enter(step, known);
        } else {
            known.state = next;
        }
        if next.is_terminal() {
            model.ended(id, JobState::Active, b.now());
        }
    } else if stale || known.lease == 0 {
        assert_eq!(answer.unwrap_err().status, 409, "a stale lease changes nothing");
    }
    // Otherwise the same token again, on a job that has ended or moved on: a repeat may be answered, it changes nothing.
    // But when the job was cancelled while it ran, its train goes on: the handler has returned.
    if !stale {
        model.reported(id, b.now());
    }
}

async fn by_hand(b: &Bench, model: &mut Model, pick: usize, what: ByHand) {
    let Some(id) = model.picked(pick) else { return };
    let (step, known) = (model.step, model.jobs.get_mut(&id).unwrap());
    let (answer, allowed) = match what {
        ByHand::Cancel => (b.change(Cancel(id)).await, !known.state.is_terminal()),
        ByHand::Activate => {
            (b.change(Activate(id)).await, known.state == JobState::Pending && !matches!(known.car, Car::Waits(_)))
        }
        ByHand::Replay => (b.change(Replay(id)).await, known.state == JobState::Discarded),
    };
    assert_eq!(answer.is_ok(), allowed, "{what:?} of {known:?}");
    match what {
        _ if !allowed => {}
        ByHand::Cancel => {
            let from = std::mem::replace(&mut known.state, JobState::Cancelled);
            model.ended(id, from, b.now());
        }
        ByHand::Activate => Model::enter(step, known),
        ByHand::Replay => {
            known.failures = 0;
            Model::enter(step, known);
            model.rejoin(id, b.now());
        }
    }
}
