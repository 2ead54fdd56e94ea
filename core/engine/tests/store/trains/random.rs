//! Random commands on a few trains. After each of them the invariants T1 to T5 hold, and the audit at the end of the
//! test looks at everything once more.
use std::collections::BTreeMap;

use ojs_engine::command::{Activate, AdvanceTrain, Cancel, HoldTrain, Outcome, Replay};
use ojs_engine::job::JobView;
use ojs_engine::train::TrainState;
use ojs_model::{JobId, JobState};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{FINAL, in_train, place, train};
use crate::support::{Bench, seconds};

crate::on_every_store!(random_commands_never_break_an_invariant);

const TRAINS: [&str; 3] = ["a", "b", "c"];
const STEPS: usize = 120;

struct Run {
    rng: StdRng,
    jobs: Vec<JobId>,
    held: Vec<JobView>,
    /// Position of the job that was handed out last, and when its train began.
    started: BTreeMap<&'static str, i64>,
    /// Epoch of the latest delivery.
    epochs: BTreeMap<&'static str, i64>,
}

impl Run {
    fn job(&mut self) -> Option<JobId> {
        (!self.jobs.is_empty()).then(|| self.jobs[self.rng.random_range(0..self.jobs.len())])
    }

    async fn step(&mut self, b: &Bench) {
        let id = TRAINS[self.rng.random_range(0..TRAINS.len())];
        match self.rng.random_range(0..20) {
            0..=5 => {
                let policies = ["", r#","on_cancelled":"hold""#, r#","on_discarded":"hold""#, r#","cancel_active":"immediate""#];
                let policy = policies[self.rng.random_range(0..policies.len())];
                let more = ["", "", "", r#","delay_until":"+PT20S""#, r#","pending":true"#, r#","expires_at":"+PT40S""#];
                let more = more[self.rng.random_range(0..more.len())];
                let retry = r#","retry":{"max_attempts":2,"initial_interval":"PT5S","jitter":false}"#;
                let request = in_train(&format!(r#"{{"id":"{id}"{policy}}}"#), &format!("{more}{retry}"));
                self.jobs.push(b.enqueue(&request).await);
            }
            6..=9 => {
                let count = self.rng.random_range(1..5);
                for job in b.claim(count).await {
                    self.hand_out(job);
                }
            }
            10..=13 if !self.held.is_empty() => {
                let job = self.held.swap_remove(self.rng.random_range(0..self.held.len()));
                // Some are refused: their lease was over, or they were cancelled.
                drop(match self.rng.random_range(0..4) {
                    0 => b.nack(&job, r#"{"code":"x","message":"m"}"#).await,
                    1 => b.nack(&job, FINAL).await,
                    2 => b.settle(job.row.id, Some(job.row.lease), Outcome::Release(0)).await,
                    _ => b.ack(&job).await,
                });
            }
            14 => drop(b.change(Cancel(self.job().unwrap_or_else(JobId::now_v7))).await),
            15 => drop(b.change(Replay(self.job().unwrap_or_else(JobId::now_v7))).await),
            16 => drop(b.change(Activate(self.job().unwrap_or_else(JobId::now_v7))).await),
            17 if self.rng.random() => {
                let hold = HoldTrain { id: id.to_owned(), by: "operator".to_owned() };
                drop(b.engine.store().execute(hold).await);
            }
            17 | 18 => {
                let advance = AdvanceTrain { id: id.to_owned(), job: None, by: "operator".to_owned() };
                drop(b.engine.store().execute(advance).await);
            }
            _ => b.advance(seconds(self.rng.random_range(0..15))).await,
        }
    }

    /// Jobs are handed out in the order of their positions; one that is handed out again has the same one.
    fn hand_out(&mut self, job: JobView) {
        let place = job.train.as_ref().unwrap();
        let car = place.car.as_ref().unwrap();
        assert!(car.leads, "only a locomotive is handed out");
        let name = TRAINS.into_iter().find(|name| **name == *place.id).unwrap();
        let last = self.started.entry(name).or_default();
        assert!(car.position >= *last, "train {name}: {} after {last} (T4)", car.position);
        *last = car.position;
        let (epoch, latest) = (car.epoch.unwrap(), self.epochs.entry(name).or_default());
        assert!(epoch > *latest, "train {name}: epoch {epoch} after {latest}");
        *latest = epoch;
        self.held.push(job);
    }

    async fn check(&mut self, b: &Bench) {
        for name in TRAINS {
            let Ok(view) = train(b, name).await else {
                // Positions begin anew.
                self.started.remove(name);
                continue;
            };
            let mut under_way = 0;
            for (car, state) in &view.cars {
                let state = state.unwrap();
                let leads = view.row.locomotive == Some(car.job);
                assert!(leads || state == JobState::Pending, "train {name}: {} at {} (T1, T2)", state, car.position);
                under_way += usize::from(!state.is_terminal() && leads);
                assert_eq!(place(b, car.job).await.0, car.position, "T5");
            }
            assert!(under_way <= 1);
            let stands = view.row.locomotive.is_none() && view.row.state != TrainState::Held;
            assert!(!stands, "train {name} has jobs and none of them may run (T3)");
        }
    }
}

async fn random_commands_never_break_an_invariant(b: Bench) {
    let seed = std::env::var("OJS_MODEL_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(rand::random::<u64>);
    println!("OJS_MODEL_SEED={seed}");
    let rng = StdRng::seed_from_u64(seed);
    let mut run = Run { rng, jobs: Vec::new(), held: Vec::new(), started: BTreeMap::new(), epochs: BTreeMap::new() };
    for _ in 0..STEPS {
        run.step(&b).await;
        run.check(&b).await;
    }
}
