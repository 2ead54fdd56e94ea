//! One round: a fresh store, clients, workers, kills, and the reckoning.
use std::fmt;
use std::ops::AddAssign;
use std::sync::Arc;

use ojs_tests::Wire;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;

use super::host::Host;
use super::ledger::Ledger;
use super::producer;
use super::worker::Worker;

const PRODUCERS: usize = 8;
const WORKERS: usize = 4;

/// What happened, for the record.
#[derive(Default, Clone, Copy)]
pub struct Tally {
    pub jobs: u64,
    pub kills: u64,
    pub resent: u64,
    pub stale_refused: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.jobs += other.jobs;
        self.kills += other.kills;
        self.resent += other.resent;
        self.stale_refused += other.stale_refused;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} jobs, {} kills, {} enqueues sent again, {} stale leases refused",
            self.jobs, self.kills, self.resent, self.stale_refused
        )
    }
}

/// Plays one round; panics when a promise is broken.
pub async fn run(mut random: StdRng, jobs: usize) -> Tally {
    let mut host = Host::start().await;
    let ledger = Arc::new(Ledger::default());
    let mut producers = tokio::task::JoinSet::new();
    for number in 0..PRODUCERS {
        let share = jobs / PRODUCERS + usize::from(number < jobs % PRODUCERS);
        producers.spawn(producer::run(host.whereabouts(), Arc::clone(&ledger), StdRng::from_rng(&mut random), share));
    }
    let mut workers = tokio::task::JoinSet::new();
    for number in 0..WORKERS {
        let worker =
            Worker::new(format!("worker-{number}"), host.whereabouts(), Arc::clone(&ledger), StdRng::from_rng(&mut random), jobs);
        workers.spawn(worker.run());
    }
    let kills = random.random_range(2..=4);
    for _ in 0..kills {
        host.kill(&mut random).await;
    }
    let resent = producers.join_all().await.into_iter().sum();
    let stale_refused = workers.join_all().await.into_iter().sum();
    reckon(&host, &ledger, jobs).await;
    host.stop().await;
    Tally { jobs: jobs as u64, kills, resent, stale_refused }
}

/// Every confirmed job is completed by an ack that was good, and there are no others.
async fn reckon(host: &Host, ledger: &Ledger, jobs: usize) {
    let entries = ledger.entries();
    assert_eq!(entries.len(), jobs, "jobs confirmed");
    let mut wire = host.whereabouts().connect().await;
    let stats = wire.get("/queues/default/stats").await.expect(200).json();
    assert_eq!((&stats["queue"]["completed"], &stats["queue"]["total"]), (&json!(jobs), &json!(jobs)), "{stats}");
    for part in entries.chunks(100) {
        check(&mut wire, part).await;
    }
}

/// Reads the jobs, a hundred requests at a time.
async fn check(wire: &mut Wire, part: &[(String, Option<i64>)]) {
    let requests: String = part.iter().map(|(id, _)| format!("GET /ojs/v1/jobs/{id} HTTP/1.1\r\nHost: test\r\n\r\n")).collect();
    wire.send(requests).await.unwrap();
    for (id, acked) in part {
        let job = wire.answer().await.unwrap().expect(200).job();
        assert_eq!((&job["id"], &job["state"]), (&json!(id), &json!("completed")), "{job}");
        assert!(job["result"].is_i64(), "completed by a stale worker: {job}");
        assert!(acked.is_none_or(|token| job["result"] == token), "a confirmed ack was overwritten: lease {acked:?}, {job}");
    }
}
