//! Random commands on a shared queue, compared with a list: a claim gets as many jobs as it wants while there are any,
//! the highest priority first, and no key is served twice as often as another one that has jobs of the same priority.
use std::collections::BTreeMap;

use ojs_engine::command::{Cancel, Outcome};
use ojs_engine::job::JobView;
use ojs_model::{JobId, JobState};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;

use crate::fair::tenant;
use crate::support::{Bench, seconds};

crate::on_every_store!(no_claim_is_short_and_turns_are_kept);

/// A job that waits: its tenant and its priority.
type Waiting = BTreeMap<JobId, (String, i32)>;

struct Model {
    bench: Bench,
    random: StdRng,
    waiting: Waiting,
    active: Vec<JobView>,
    /// Jobs that wait for their retry.
    failed: Waiting,
}

impl Model {
    async fn step(&mut self) {
        match self.random.random_range(0..100) {
            0..40 => self.enqueue().await,
            40..75 => self.claim().await,
            75..85 => self.end().await,
            85..90 => self.cancel().await,
            90..95 => {
                // No lease may end while time passes.
                for job in std::mem::take(&mut self.active) {
                    self.bench.ack(&job).await.unwrap();
                }
                self.bench.advance(seconds(3)).await;
                self.waiting.append(&mut self.failed);
            }
            _ => self.change().await,
        }
    }

    async fn enqueue(&mut self) {
        let count = self.random.random_range(1..8);
        for _ in 0..count {
            // The first tenant has most of the jobs.
            let number = self.random.random_range(0..10_u32).saturating_sub(6);
            let (name, priority) = (format!("t{number}"), self.random.random_range(0..2));
            let retry = json!({"initial_interval": "PT1S", "backoff_coefficient": 1, "jitter": false, "max_attempts": 1_000});
            let job = json!({
                "type": "t", "args": [], "meta": {"tenant_id": name},
                "options": {"queue": "q", "priority": priority, "retry": retry},
            });
            let id = self.bench.enqueue(&job.to_string()).await;
            self.waiting.insert(id, (name, priority));
        }
    }

    async fn claim(&mut self) {
        let wanted = self.random.random_range(1..7);
        let jobs = self.bench.claim(wanted).await;
        assert_eq!(jobs.len(), wanted.min(self.waiting.len()), "a claim is short while jobs wait");
        let before = self.waiting.clone();
        let mut served: BTreeMap<(String, i32), usize> = BTreeMap::new();
        for job in &jobs {
            let (name, priority) = self.waiting.remove(&job.row.id).unwrap();
            assert_eq!((&tenant(job), job.row.priority), (&name, priority));
            let best = self.waiting.values().map(|(_, priority)| *priority).max();
            assert!(best.is_none_or(|best| best <= priority), "a job of a higher priority waits");
            *served.entry((name, priority)).or_default() += 1;
        }
        for ((name, priority), times) in &served {
            let others = before.values().filter(|(other, own)| own == priority && other != name);
            for (other, _) in others {
                let of_other = served.get(&(other.clone(), *priority)).copied().unwrap_or(0);
                let has_more = self.waiting.values().any(|(left, own)| left == other && own == priority);
                assert!(!has_more || *times <= of_other + 1, "{name} was served {times} times, {other} {of_other}");
            }
        }
        self.active.extend(jobs);
    }

    async fn end(&mut self) {
        if self.active.is_empty() {
            return;
        }
        let at = self.random.random_range(0..self.active.len());
        let job = self.active.swap_remove(at);
        let place = (tenant(&job), job.row.priority);
        match self.random.random_range(0..3) {
            0 => drop(self.bench.ack(&job).await.unwrap()),
            1 => {
                self.bench.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
                self.failed.insert(job.row.id, place);
            }
            _ => {
                let outcome = Outcome::Release(0);
                self.bench.settle(job.row.id, Some(job.row.lease), outcome).await.unwrap();
                self.waiting.insert(job.row.id, place);
            }
        }
    }

    async fn cancel(&mut self) {
        let Some(id) = self.waiting.keys().next().copied() else { return };
        self.bench.change(Cancel(id)).await.unwrap();
        self.waiting.remove(&id);
    }

    /// Ends sharing and begins it again: jobs are handed out by other lines then, and none may be lost.
    async fn change(&mut self) {
        assert_eq!(self.bench.http("DELETE", "/admin/queues/q/fairness", "").await.0, 200);
        if let Some(job) = self.bench.claim(1).await.pop() {
            self.waiting.remove(&job.row.id).unwrap();
            self.active.push(job);
        }
        self.bench.share(json!({})).await;
    }
}

async fn no_claim_is_short_and_turns_are_kept(bench: Bench) {
    bench.share(json!({})).await;
    let random = StdRng::seed_from_u64(7);
    let mut model = Model { bench, random, waiting: Waiting::new(), active: Vec::new(), failed: Waiting::new() };
    for _ in 0..300 {
        model.step().await;
    }
    let counts = model.bench.counts("q").await;
    assert_eq!(usize::try_from(counts[JobState::Available as usize]).unwrap(), model.waiting.len());
}
