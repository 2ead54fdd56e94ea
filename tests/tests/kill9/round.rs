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

/// Plays one round on one server; panics when a promise is broken.
pub async fn run(random: StdRng, jobs: usize) -> Tally {
    play(Host::one().await, random, jobs, 0).await
}

/// Plays one round on two servers and a database that is restarted once, with a cron entry that is due every second.
pub async fn run_nodes(random: StdRng, jobs: usize) -> Tally {
    let host = Host::two().await;
    let tick = json!({"name": "tick", "expression": "* * * * * *", "overlap_policy": "allow",
        "job_template": {"type": "test.tick", "args": [], "options": {"queue": "ticks"}}});
    host.whereabouts().connect().await.call("POST", "/cron", &tick.to_string()).await.unwrap().expect(201);
    play(host, random, jobs, 1).await
}

async fn play(mut host: Host, mut random: StdRng, jobs: usize, restarts: usize) -> Tally {
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
    for number in 0..kills {
        host.kill(&mut random).await;
        if number < restarts as u64 {
            host.restart_database();
        }
    }
    let resent = producers.join_all().await.into_iter().sum();
    let stale_refused = workers.join_all().await.into_iter().sum();
    reckon(&host, &ledger, jobs).await;
    if restarts > 0 {
        ticks(&host).await;
    }
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

/// No tick of the cron entry has fired twice, whoever led at the time; each has one job.
async fn ticks(host: &Host) {
    let mut wire = host.whereabouts().connect().await;
    let events = wire.get("/events?types=cron.triggered&limit=1000").await.expect(200).json();
    let mut due: Vec<_> =
        events["events"].as_array().unwrap().iter().map(|event| event["data"]["scheduled_at"].to_string()).collect();
    let fired = due.len();
    due.sort();
    due.dedup();
    assert_eq!(due.len(), fired, "a tick has fired twice: {events}");
    let stats = wire.get("/queues/ticks/stats").await.expect(200).json();
    // One more may have come between the two requests.
    assert!(fired > 0 && stats["queue"]["total"].as_u64().unwrap() - (fired as u64) <= 1, "{fired} ticks, {stats}");
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
