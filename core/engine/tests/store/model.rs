//! Random commands against a tiny reference model: the same answers, and counts that always add up.
use std::collections::BTreeMap;

use ojs_engine::command::{Command, Outcome};
use ojs_model::{JobId, JobState};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::support::{Bench, seconds};

crate::on_every_store!(random_commands_agree_with_the_model);

/// What the model knows of a job.
#[derive(Debug, Clone)]
struct Known {
    state: JobState,
    lease: i64,
    due: i64,
    failures: u32,
}

const MAX_ATTEMPTS: u32 = 3;
const LEASE_MS: i64 = 30_000;

async fn random_commands_agree_with_the_model(b: Bench) {
    for seed in 0..6 {
        b.engine.store().execute(Command::Reset).await.unwrap();
        let mut rng = StdRng::seed_from_u64(seed);
        let mut model: BTreeMap<JobId, Known> = BTreeMap::new();
        for step in 0..400 {
            run_step(&b, &mut rng, &mut model).await;
            settle_time(&b, &mut model);
            check(&b, &model, &format!("seed {seed}, step {step}")).await;
        }
    }
}

async fn run_step(b: &Bench, rng: &mut StdRng, model: &mut BTreeMap<JobId, Known>) {
    let picked = pick(rng, model);
    match (rng.random_range(0..10), picked) {
        (0..=2, _) => {
            let options = ["", r#","delay_until":"+PT20S""#, r#","pending":true"#][rng.random_range(0..3)];
            let request = format!(
                r#"{{"type":"t","args":[],"options":{{"queue":"q","retry":{{"max_attempts":{MAX_ATTEMPTS},"initial_interval":"PT10S","backoff_strategy":"constant","jitter":false}}{options}}}}}"#
            );
            let row = b.try_enqueue(&[&request]).await.unwrap().remove(0).row;
            let state = if options.contains("delay") {
                JobState::Scheduled
            } else if options.is_empty() {
                JobState::Available
            } else {
                JobState::Pending
            };
            model.insert(row.id, Known { state, lease: 0, due: b.now() + 20_000, failures: 0 });
        }
        (3..=4, _) => {
            for job in b.claim(rng.random_range(1..4)).await {
                let known = model.get_mut(&job.row.id).unwrap();
                assert_eq!(known.state, JobState::Available, "only available jobs are handed out");
                assert!(job.row.lease > known.lease);
                (known.state, known.lease, known.due) = (JobState::Active, job.row.lease, b.now() + LEASE_MS);
            }
        }
        (5..=7, Some(id)) => outcome(b, rng, id, model.get_mut(&id).unwrap()).await,
        (8, Some(id)) => by_hand(b, rng, id, model.get_mut(&id).unwrap()).await,
        _ => b.advance(seconds(rng.random_range(0..25))).await,
    }
}

fn pick(rng: &mut StdRng, model: &BTreeMap<JobId, Known>) -> Option<JobId> {
    let index = rng.random_range(0..model.len().max(1));
    model.keys().nth(index).copied()
}

async fn outcome(b: &Bench, rng: &mut StdRng, id: JobId, known: &mut Known) {
    let stale = rng.random_bool(0.3);
    let lease = if stale { known.lease - 1 } else { known.lease };
    let accepted = !stale && known.state == JobState::Active;
    let (outcome, next) = match rng.random_range(0..3) {
        0 => (Outcome::Ack(None), JobState::Completed),
        1 => (Outcome::Release(0), JobState::Available),
        _ => {
            let error = ojs_model::JobError::engine(ojs_model::ErrorCode::HandlerError, "m");
            let next = if known.failures + 1 >= MAX_ATTEMPTS { JobState::Discarded } else { JobState::Retryable };
            (Outcome::Nack(Box::new(error)), next)
        }
    };
    let failed = matches!(outcome, Outcome::Nack(_));
    let answer = b.settle(id, Some(lease), outcome).await;
    if accepted {
        assert_eq!(answer.unwrap().row.state, next);
        known.state = next;
        known.failures += u32::from(failed);
        known.due = b.now() + 10_000;
    } else if stale || known.lease == 0 {
        assert_eq!(answer.unwrap_err().status, 409);
    }
    // Otherwise the same token again, on a job that has ended or moved on: a repeat may be answered, it changes nothing.
}

async fn by_hand(b: &Bench, rng: &mut StdRng, id: JobId, known: &mut Known) {
    let (command, from, to) = match rng.random_range(0..3) {
        0 => (
            Command::Cancel(id),
            [JobState::Scheduled, JobState::Available, JobState::Pending, JobState::Active, JobState::Retryable].as_slice(),
            JobState::Cancelled,
        ),
        1 => (Command::Activate(id), [JobState::Pending].as_slice(), JobState::Available),
        _ => (Command::Replay(id), [JobState::Discarded].as_slice(), JobState::Available),
    };
    let answer = b.change(command).await;
    assert_eq!(answer.is_ok(), from.contains(&known.state), "{known:?}");
    if let Ok(view) = answer {
        assert_eq!(view.row.state, to);
        if known.state == JobState::Discarded {
            known.failures = 0;
        }
        known.state = to;
    }
}

/// What time does in the model.
fn settle_time(b: &Bench, model: &mut BTreeMap<JobId, Known>) {
    for known in model.values_mut().filter(|known| known.due <= b.now()) {
        match known.state {
            JobState::Scheduled | JobState::Retryable => known.state = JobState::Available,
            JobState::Active => {
                known.failures += 1;
                known.state = if known.failures >= MAX_ATTEMPTS { JobState::Discarded } else { JobState::Available };
            }
            _ => {}
        }
    }
}

async fn check(b: &Bench, model: &BTreeMap<JobId, Known>, place: &str) {
    let mut expected = [0_i64; 8];
    for known in model.values() {
        expected[known.state as usize] += 1;
    }
    assert_eq!(b.counts("q").await, expected, "{place}");
    if let Some((id, known)) = model.iter().next_back() {
        assert_eq!(b.state(*id).await, known.state, "{place}");
    }
}
