//! Trains under fire: workers, servers and the database are killed while jobs of many trains are enqueued, cancelled,
//! held, discarded and run again. No job may overtake another one of its train, none may run beside another one, and
//! none may be stuck (JT-12, JT-13).
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ojs_tests::job_id;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::host::{Host, Whereabouts};
use super::operator::{Operated, Operator};
use super::producer::send;
use super::round::sound;
use super::stuck::STILL;
use super::train_log::Log;
use super::train_worker::{NAME, QUEUE, SERVERS};

const PRODUCERS: usize = 4;
const WORKERS: u64 = 3;
/// How long a kill waits for a worker that runs a handler.
const BUSY: Duration = Duration::from_secs(5);

/// How large a round is.
#[derive(Clone, Copy)]
pub struct Size {
    pub trains: usize,
    pub cars: usize,
    /// Servers that are killed; as many workers are.
    pub kills: usize,
}

/// What happened, for the record.
#[derive(Default)]
pub struct Tally {
    jobs: usize,
    runs: usize,
    late: usize,
    pub cut: usize,
    kills: usize,
    pub repeated: usize,
    pub cancelled: u64,
    pub discarded: u64,
    pub holds: usize,
    pub advances: usize,
    replays: usize,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} jobs, {} servers and as many workers killed; {} runs: {} killed, {} repeated, {} late; \
             {} jobs cancelled, {} discarded; {} holds, {} advances, {} replays; 0 overtaken, 0 overlapping, 0 stuck",
            self.jobs,
            self.kills,
            self.runs,
            self.cut,
            self.repeated,
            self.late,
            self.cancelled,
            self.discarded,
            self.holds,
            self.advances,
            self.replays
        )
    }
}

/// What producers, workers and the operator share.
pub struct Shared {
    pub log: Log,
    /// Jobs that were confirmed.
    pub ids: Mutex<Vec<String>>,
    /// All jobs are stored: from now on holds only end.
    pub stored: AtomicBool,
    /// What the operator has changed.
    pub operated: Operated,
}

/// Plays one round on these servers; panics when a promise is broken.
pub async fn run(mut host: Host, mut random: StdRng, size: Size, restarts: bool) -> Tally {
    let shared = Arc::new(Shared {
        log: Log::default(),
        ids: Mutex::default(),
        stored: AtomicBool::new(false),
        operated: Operated::default(),
    });
    let mut processes = WorkerProcesses::start(&host, &shared);
    let mut producers = JoinSet::new();
    for share in 0..PRODUCERS {
        let trains = (share..size.trains).step_by(PRODUCERS).collect();
        let random = StdRng::from_rng(&mut random);
        producers.spawn(produce(host.whereabouts(), Arc::clone(&shared), random, trains, size.cars));
    }
    let operator = Operator::new(host.whereabouts(), Arc::clone(&shared), StdRng::from_rng(&mut random), size.trains);
    let operator = tokio::spawn(operator.run());
    for kill in 0..size.kills {
        host.kill(Duration::from_millis(random.random_range(20..500)), &mut random).await;
        processes.publish(&host);
        processes.kill_one(&mut random).await;
        if restarts && kill == 0 {
            host.restart_database();
        }
    }
    producers.join_all().await;
    shared.stored.store(true, Ordering::SeqCst);
    let stats = settled(host.whereabouts(), size.trains * size.cars).await;
    operator.abort();
    processes.stop().await;
    let findings = shared.log.judge();
    assert!(findings.overtaken.is_empty(), "overtaken: {:#?}", findings.overtaken);
    assert!(findings.overlapping.is_empty(), "overlapping: {:#?}", findings.overlapping);
    let completed = stats["completed"].as_u64().unwrap();
    assert!(completed <= findings.completed.len() as u64, "{completed} jobs completed, {} by a run", findings.completed.len());
    sound(&mut host.whereabouts().connect().await).await;
    host.stop().await;
    let operated = |number: &AtomicUsize| number.load(Ordering::SeqCst);
    Tally {
        jobs: size.trains * size.cars,
        runs: findings.runs,
        late: findings.late,
        cut: findings.cut,
        kills: size.kills,
        repeated: findings.repeated,
        cancelled: stats["cancelled"].as_u64().unwrap(),
        discarded: stats["discarded"].as_u64().unwrap(),
        holds: operated(&shared.operated.holds),
        advances: operated(&shared.operated.advances),
        replays: operated(&shared.operated.replays),
    }
}

/// Enqueues the jobs of some trains, those of each train in their order.
async fn produce(mut whereabouts: Whereabouts, shared: Arc<Shared>, mut random: StdRng, trains: Vec<usize>, cars: usize) {
    let mut wire = whereabouts.connect().await;
    let mut next = vec![0; trains.len()];
    while let Some(at) = (0..trains.len()).filter(|at| next[*at] < cars).min_by_key(|at| next[*at]) {
        let count = if random.random_bool(0.7) { 1 } else { random.random_range(2..=8).min(cars - next[at]) };
        let jobs: Vec<Value> = (next[at]..next[at] + count).map(|number| car(trains[at], number, &mut random)).collect();
        send(&mut wire, &mut whereabouts, &jobs).await;
        next[at] += count;
        shared.ids.lock().unwrap().extend(jobs.iter().map(|job| job["id"].as_str().unwrap().to_owned()));
    }
}

/// A job of a train. Enough attempts for any number of lost leases, and quick retries.
fn car(train: usize, number: usize, random: &mut StdRng) -> Value {
    let retry = json!({"max_attempts": 1000, "initial_interval_ms": 20, "backoff_coefficient": 1.0, "jitter": false});
    let mut train_option = json!({"id": format!("t{train}")});
    for policy in ["on_cancelled", "on_discarded"] {
        if random.random_bool(0.3) {
            train_option[policy] = json!("hold");
        }
    }
    let options = json!({"queue": QUEUE, "retry": retry, "train": train_option});
    json!({"type": "test.train", "args": [train, number], "id": job_id(), "options": options})
}

/// Waits until all jobs have ended and no train is left; returns the counts of the queue.
async fn settled(mut whereabouts: Whereabouts, jobs: usize) -> Value {
    let (mut seen, mut since) = (Value::Null, Instant::now());
    loop {
        let mut wire = whereabouts.connect().await;
        let stats = wire.get(&format!("/queues/{QUEUE}/stats")).await.expect(200).json()["queue"].clone();
        let trains = wire.get("/trains?limit=5").await.expect(200).json();
        let ended: u64 = ["completed", "cancelled", "discarded"].iter().map(|state| stats[*state].as_u64().unwrap()).sum();
        if trains["count"] == 0 && ended == jobs as u64 {
            return stats;
        }
        let now = json!([stats, trains["count"]]);
        if now != seen {
            (seen, since) = (now, Instant::now());
        }
        assert!(since.elapsed() < STILL, "stuck: nothing has moved for {STILL:?}: {stats}, {trains}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// A worker process, and how many handlers it runs.
struct Worker {
    child: Child,
    running: Arc<AtomicI64>,
}

/// Worker processes, and the file that tells them where servers are.
struct WorkerProcesses {
    workers: Vec<Worker>,
    readers: JoinSet<()>,
    started: u64,
    servers: PathBuf,
    shared: Arc<Shared>,
    _dir: tempfile::TempDir,
}

impl WorkerProcesses {
    fn start(host: &Host, shared: &Arc<Shared>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let servers = dir.path().join("servers");
        let (workers, readers, shared) = (Vec::new(), JoinSet::new(), Arc::clone(shared));
        let mut processes = Self { workers, readers, started: 0, servers, shared, _dir: dir };
        processes.publish(host);
        for _ in 0..WORKERS {
            let worker = processes.spawn();
            processes.workers.push(worker);
        }
        processes
    }

    /// Writes where the servers are. Readers see the old list or the new one.
    fn publish(&self, host: &Host) {
        let list: Vec<String> = host.addresses().iter().map(ToString::to_string).collect();
        let next = self.servers.with_extension("next");
        std::fs::write(&next, list.join("\n")).unwrap();
        std::fs::rename(next, &self.servers).unwrap();
    }

    fn spawn(&mut self) -> Worker {
        let mut child = command(&self.servers, self.started).spawn().unwrap();
        self.started += 1;
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (shared, running) = (Arc::clone(&self.shared), Arc::new(AtomicI64::new(0)));
        let count = Arc::clone(&running);
        self.readers.spawn(async move {
            while let Some(line) = lines.next_line().await.unwrap() {
                shared.log.take(&line);
                let change = if line.starts_with("@begin") { 1 } else { -i64::from(line.starts_with("@end")) };
                count.fetch_add(change, Ordering::SeqCst);
            }
        });
        Worker { child, running }
    }

    /// SIGKILL for one in the middle of a handler; another one takes its place.
    async fn kill_one(&mut self, random: &mut StdRng) {
        let since = Instant::now();
        let mut busy = self.busy();
        while busy.is_empty() && since.elapsed() < BUSY {
            tokio::time::sleep(Duration::from_millis(1)).await;
            busy = self.busy();
        }
        let any = random.random_range(0..self.workers.len());
        let victim = if busy.is_empty() { any } else { busy[random.random_range(0..busy.len())] };
        let next = self.spawn();
        let mut dead = std::mem::replace(&mut self.workers[victim], next);
        dead.child.kill().await.unwrap();
    }

    fn busy(&self) -> Vec<usize> {
        (0..self.workers.len()).filter(|at| self.workers[*at].running.load(Ordering::SeqCst) > 0).collect()
    }

    /// Kills all, and reads what they have written.
    async fn stop(mut self) {
        for worker in &mut self.workers {
            assert!(worker.child.try_wait().unwrap().is_none(), "a worker has ended by itself");
            worker.child.kill().await.unwrap();
        }
        self.readers.join_all().await;
    }
}

/// This program as a worker.
fn command(servers: &Path, name: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "train_worker::worker_process", "--nocapture"]);
    command.env(SERVERS, servers).env(NAME, name.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    command
}
