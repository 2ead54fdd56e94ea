//! One round: a fresh store, clients, workers, kills, and the reckoning.
use std::fmt;
use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ojs_tests::Wire;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;

use super::client_log::ClientLog;
use super::host::Host;
use super::producer;
use super::stuck;
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

/// How a round is disturbed.
#[derive(Clone, Copy)]
enum Plan {
    /// Two to four kills, shortly one after the other; the database is restarted with the first so many of them.
    Burst { restarts: u64 },
    /// A kill every few seconds for so long, unless the jobs are done before; a restart of the database with every eighth.
    Steady(Duration),
}

/// Plays one round on one server; panics when a promise is broken.
pub async fn run(random: StdRng, jobs: usize) -> Tally {
    play(Host::one().await, random, jobs, Plan::Burst { restarts: 0 }).await
}

/// Plays one round on two servers and a database that is restarted, with a cron entry that is due every second. `steadily`: one is killed
/// every few seconds for so long.
pub async fn run_nodes(random: StdRng, jobs: usize, steadily: Duration) -> Tally {
    let host = Host::two().await;
    let tick = json!({"name": "tick", "expression": "* * * * * *", "overlap_policy": "allow",
        "job_template": {"type": "test.tick", "args": [], "options": {"queue": "ticks"}}});
    host.whereabouts().connect().await.call("POST", "/cron", &tick.to_string()).await.unwrap().expect(201);
    let plan = if steadily.is_zero() { Plan::Burst { restarts: 1 } } else { Plan::Steady(steadily) };
    play(host, random, jobs, plan).await
}

async fn play(mut host: Host, mut random: StdRng, jobs: usize, plan: Plan) -> Tally {
    let client_log = Arc::new(ClientLog::default());
    let (done, report) = (AtomicBool::new(false), stuck::watch(host.whereabouts(), &client_log));
    let clients = clients(&host, &client_log, &mut random, jobs);
    let work = async {
        let ended = clients.await;
        done.store(true, Ordering::SeqCst);
        ended
    };
    let (kills, (resent, stale_refused)) = tokio::select! {
        ended = async { tokio::join!(disturb(&mut host, &mut random, plan, &done), work) } => ended,
        report = report => panic!("{report}"),
    };
    reckon(&host, &client_log, jobs).await;
    if !matches!(plan, Plan::Burst { restarts: 0 }) {
        ticks(&host).await;
    }
    host.stop().await;
    Tally { jobs: jobs as u64, kills, resent, stale_refused }
}

/// Producers and workers; resolves when all jobs are completed, with the enqueues sent again and the stale leases refused.
fn clients(
    host: &Host,
    client_log: &Arc<ClientLog>,
    random: &mut StdRng,
    jobs: usize,
) -> impl Future<Output = (u64, u64)> + use<> {
    let mut producers = tokio::task::JoinSet::new();
    for number in 0..PRODUCERS {
        let share = jobs / PRODUCERS + usize::from(number < jobs % PRODUCERS);
        producers.spawn(producer::run(host.whereabouts(), Arc::clone(client_log), StdRng::from_rng(random), share));
    }
    let mut workers = tokio::task::JoinSet::new();
    for number in 0..WORKERS {
        let name = format!("worker-{number}");
        workers.spawn(Worker::new(name, host.whereabouts(), Arc::clone(client_log), StdRng::from_rng(random), jobs).run());
    }
    async { (producers.join_all().await.into_iter().sum(), workers.join_all().await.into_iter().sum()) }
}

/// Kills by the plan; returns how often.
async fn disturb(host: &mut Host, random: &mut StdRng, plan: Plan, done: &AtomicBool) -> u64 {
    let began = Instant::now();
    let most = random.random_range(2..=4);
    let mut kills = 0;
    loop {
        let (pause, over, restart) = match plan {
            Plan::Burst { restarts } => (20..500, kills == most, kills < restarts),
            Plan::Steady(time) => (1_000..4_000, began.elapsed() >= time || done.load(Ordering::SeqCst), kills % 8 == 7),
        };
        if over {
            return kills;
        }
        host.kill(Duration::from_millis(random.random_range(pause)), random).await;
        kills += 1;
        if restart {
            host.restart_database();
        }
    }
}

/// Every confirmed job is completed by an ack that was good, and there are no others.
async fn reckon(host: &Host, client_log: &ClientLog, jobs: usize) {
    let entries = client_log.entries();
    assert_eq!(entries.len(), jobs, "jobs confirmed");
    let mut wire = host.whereabouts().connect().await;
    let stats = wire.get("/queues/default/stats").await.expect(200).json();
    assert_eq!((&stats["queue"]["completed"], &stats["queue"]["total"]), (&json!(jobs), &json!(jobs)), "{stats}");
    for part in entries.chunks(100) {
        check(&mut wire, part).await;
    }
    sound(&mut wire).await;
}

/// The store does not contradict itself.
pub async fn sound(wire: &mut Wire) {
    let audited = wire.get("/admin/system/audit").await.expect(200).json();
    assert_eq!(audited["sound"], true, "the store contradicts itself: {audited}");
}

/// No tick of the cron entry has fired twice, although the leader changed; each tick has one job.
async fn ticks(host: &Host) {
    let mut wire = host.whereabouts().connect().await;
    let (mut due, mut after) = (Vec::new(), String::new());
    loop {
        let page = wire.get(&format!("/events?types=cron.triggered&limit=1000{after}")).await.expect(200).json();
        due.extend(page["events"].as_array().unwrap().iter().map(|event| event["data"]["scheduled_at"].to_string()));
        if page["has_more"] != true {
            break;
        }
        after = format!("&after={}", page["cursor"].as_str().unwrap());
    }
    let fired = due.len();
    due.sort();
    let twice: Vec<_> = due.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| &pair[0]).collect();
    assert!(twice.is_empty(), "ticks have fired twice: {twice:?}");
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
