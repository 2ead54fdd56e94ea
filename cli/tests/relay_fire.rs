//! The relay under fire: sixteen writers with random pauses, rollbacks and savepoints; two relays and the server killed with `kill -9`
//! at random; a foreign transaction held open. Nothing is lost, nothing is overtaken, nothing runs twice because of the relay.
//!
//! Half of the jobs run while all this goes on. The others stay where the server has put them, and show at the end in which order.
//! `OJS_SOAK_ROWS` is the number of rows that are committed (`make soak`: a million), `OJS_FAULT_SEED` repeats a plan.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]
use std::collections::HashMap;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use ojs::worker::WorkerHandle;
use ojs::{Client, Worker};
use ojs_tests::ServerProcess;
use ojs_tests::rand::rngs::StdRng;
use ojs_tests::rand::{self, Rng, SeedableRng};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio_postgres::NoTls;

const WRITERS: u64 = 16;
/// How long the foreign transaction stays open.
const FOREIGN: Duration = Duration::from_secs(30);
/// How long nothing may arrive before the test gives up.
const PATIENCE: Duration = Duration::from_secs(120);
/// Enough attempts for any number of leases that run out while a server is away.
const RETRY: &str = r#"{"max_attempts":1000,"initial_interval_ms":20,"backoff_coefficient":1.0}"#;
/// Jobs that are run at once, and jobs that are left where they are.
const QUEUES: [&str; 2] = ["run", "kept"];

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {text:?}")))
}

async fn connect(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

fn ojs_relay(server: &ServerProcess, database: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ojs"));
    command.arg("relay").args(arguments).env("OJS_URL", server.url()).env("OJS_OUTBOX_DATABASE", database);
    command.env_remove("OJS_AUTH_TOKEN").kill_on_drop(true).stdout(Stdio::piped());
    command
}

async fn relay(server: &ServerProcess, database: &str) -> Child {
    // What it says about a server that is away is no news here.
    let arguments = ["run", "--poll-interval", "20", "--log-level", "off"];
    let mut child = ojs_relay(server, database, &arguments).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).await.unwrap();
    assert_eq!(line, "relaying\n");
    child
}

/// One writer, until all have written enough: a pause before the rows and one behind them, savepoints that are released or rolled back,
/// now and then a transaction that is rolled back. Returns how many rows it has committed.
async fn write(database: String, writer: u64, mut random: StdRng, left: Arc<AtomicU64>) -> u64 {
    let client = connect(&database).await;
    let (mut next, mut committed) = (writer << 32, 0);
    while left.load(Ordering::Relaxed) > 0 {
        client.batch_execute("BEGIN").await.unwrap();
        let mut rows = 0;
        for _ in 0..random.random_range(1..=3) {
            pause(&mut random, 3).await;
            let count = random.random_range(1..=10);
            let queue = QUEUES[random.random_range(0..2)];
            let insert = format!(
                r#"INSERT INTO ojs_outbox (job_type, job_args, job_options)
                SELECT 'fire', jsonb_build_array(i), '{{"queue":"{queue}","retry":{RETRY}}}' FROM generate_series({next}::bigint, {}) i"#,
                next + count - 1
            );
            next += count;
            let (before, after, stays) = match random.random_range(0..10) {
                0 => ("SAVEPOINT s;", "; ROLLBACK TO s", 0),
                1 => ("SAVEPOINT s;", "; RELEASE s", count),
                _ => ("", "", count),
            };
            client.batch_execute(&format!("{before}{insert}{after}")).await.unwrap();
            rows += stays;
        }
        pause(&mut random, 5).await;
        if random.random_bool(0.05) {
            client.batch_execute("ROLLBACK").await.unwrap();
            continue;
        }
        client.batch_execute("COMMIT").await.unwrap();
        committed += rows;
        let _ = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(rows)));
    }
    committed
}

/// Any moment must do, so a random one is taken.
async fn pause(random: &mut StdRng, most: u64) {
    tokio::time::sleep(Duration::from_millis(random.random_range(0..=most))).await;
}

/// What has run.
#[derive(Default)]
struct Runs {
    /// By the number in the row: the id of its job, and how often that has run.
    rows: HashMap<i64, (String, u32)>,
    wrong: Vec<String>,
}

impl Runs {
    fn note(&mut self, number: i64, id: &str, attempt: u32) {
        let seen = self.rows.entry(number).or_insert_with(|| (id.to_owned(), 0));
        seen.1 += 1;
        if seen.0 != id {
            self.wrong.push(format!("row {number} became the jobs {} and {id}", seen.0));
        }
        // A server that is killed forgets who has a job, and gives it to a worker again: that is no matter of the relay's.
        if seen.1 > 1 && attempt == 1 {
            self.wrong.push(format!("{id} was enqueued again"));
        }
    }
}

fn work(client: &Client, runs: &Arc<Mutex<Runs>>) -> WorkerHandle {
    let options = ojs::worker::WorkerOptions::new(["run"]).concurrency(200).visibility_timeout(Duration::from_secs(5));
    let worker = Worker::new(Arc::clone(client.transport()), options);
    let runs = Arc::clone(runs);
    worker
        .register("fire", move |ctx| {
            let runs = Arc::clone(&runs);
            async move {
                runs.lock().unwrap().note(ctx.arg(0)?, ctx.id(), ctx.attempt());
                Ok(())
            }
        })
        .unwrap();
    worker.start()
}

/// Jobs that the server has and is done with: those of one queue have run, those of the other stay. `None` while it is away.
async fn arrived(client: &Client) -> Option<u64> {
    Some(client.queue_stats("run").await.ok()?.completed + client.queue_stats("kept").await.ok()?.available)
}

/// Shows how far it is: a bar on a terminal, otherwise a line now and then.
struct Progress {
    bar: ProgressBar,
    said: Instant,
}

impl Progress {
    fn new(rows: u64) -> Self {
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} relayed, {elapsed} {msg}").unwrap();
        Self { bar: ProgressBar::new(rows).with_style(style), said: Instant::now() }
    }

    fn show(&mut self, arrived: u64, kills: &Kills) {
        self.bar.set_position(arrived);
        self.bar.set_message(kills.to_string());
        if self.bar.is_hidden() && self.said.elapsed() > Duration::from_secs(5) {
            println!("{arrived} of {} relayed; {kills}", self.bar.length().unwrap_or(0));
            self.said = Instant::now();
        }
    }
}

#[derive(Default)]
struct Kills {
    relays: u32,
    servers: u32,
}

impl std::fmt::Display for Kills {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} relays and {} servers killed", self.relays, self.servers)
    }
}

/// Two relays and a server, one of which is killed now and then.
struct Targets {
    server: ServerProcess,
    relays: [Child; 2],
    database: String,
    kills: Kills,
}

impl Targets {
    async fn kill_one(&mut self, random: &mut StdRng) {
        // A relay that is killed keeps its lease for 1.5 s: less often, and it has relayed something in between.
        pause(random, 3000).await;
        match random.random_range(0..5) {
            0 => {
                self.server.kill().await;
                self.server = self.server.again_there().await;
                self.kills.servers += 1;
            }
            number => {
                let victim = &mut self.relays[number % 2];
                victim.kill().await.unwrap();
                *victim = relay(&self.server, &self.database).await;
                self.kills.relays += 1;
            }
        }
    }
}

/// The numbers of the jobs in a queue, in the order in which the server hands them out.
async fn order_of(server: &ServerProcess, queue: &str) -> Vec<i64> {
    let mut wire = server.connect().await.patient(PATIENCE);
    let body = json!({"queues": [queue], "count": 1000, "worker_id": "w", "visibility_timeout_ms": 3_600_000});
    let mut order = Vec::new();
    loop {
        let fetched = wire.post("/workers/fetch", &body).await.expect(200).json();
        let jobs = fetched["jobs"].as_array().unwrap();
        if jobs.is_empty() {
            return order;
        }
        order.extend(jobs.iter().map(|job| job["args"][0].as_i64().unwrap()));
    }
}

/// How often a job came before one that was inserted earlier.
fn inversions(arrived: &[i64], inserted: &[i64]) -> usize {
    let places: HashMap<i64, usize> = inserted.iter().enumerate().map(|(place, number)| (*number, place)).collect();
    arrived.windows(2).filter(|pair| places.get(&pair[0]) > places.get(&pair[1])).count()
}

async fn inserted(admin: &tokio_postgres::Client, queue: &str) -> Vec<i64> {
    let sql = "SELECT (job_args->>0)::bigint FROM ojs_outbox WHERE job_options->>'queue' = $1 ORDER BY id";
    admin.query(sql, &[&queue]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

async fn unsent(admin: &tokio_postgres::Client) -> bool {
    !admin.query("SELECT 1 FROM ojs_outbox WHERE status <> 'sent' LIMIT 1", &[]).await.unwrap().is_empty()
}

/// Kills until the writers have finished and everything has arrived.
async fn fire(
    targets: &mut Targets,
    client: &Client,
    writers: Vec<tokio::task::JoinHandle<u64>>,
    random: &mut StdRng,
    rows: u64,
) {
    let foreign = connect(&targets.database).await;
    foreign.batch_execute("CREATE TABLE other (x int); BEGIN; INSERT INTO other VALUES (1)").await.unwrap();
    let (opened, mut open, admin) = (Instant::now(), true, connect(&targets.database).await);
    let mut progress = Progress::new(rows);
    while writers.iter().any(|writer| !writer.is_finished()) || targets.kills.relays < 4 || targets.kills.servers < 1 {
        targets.kill_one(random).await;
        if let Some(count) = arrived(client).await {
            progress.show(count, &targets.kills);
        }
        if open && opened.elapsed() > FOREIGN {
            foreign.batch_execute("COMMIT").await.unwrap();
            open = false;
        }
    }
    let mut committed = 0;
    for writer in writers {
        committed += writer.await.unwrap();
    }
    // The foreign transaction of a short run is open to the end: it must not keep anything back.
    let (mut last, mut moved) = (None, Instant::now());
    while unsent(&admin).await || last.is_none_or(|count| count < committed) {
        let now = arrived(client).await;
        if now != last {
            (last, moved) = (now, Instant::now());
        }
        assert!(moved.elapsed() < PATIENCE, "{last:?} of {committed} have arrived; {}", targets.kills);
        progress.show(last.unwrap_or(0), &targets.kills);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    progress.bar.finish();
    println!("{committed} rows after {:.1} s; {}", opened.elapsed().as_secs_f64(), targets.kills);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_doubled_or_overtaken() {
    let (rows, seed) = (setting("OJS_SOAK_ROWS", 20_000), setting("OJS_FAULT_SEED", rand::rng().random_range(0..1_000_000)));
    println!("OJS_SOAK_ROWS={rows} OJS_FAULT_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let server = ServerProcess::start("sqlite", &["--log-level", "error"]).await;
    let app = ojs_postgres_fixture::database();
    let database = app.url().to_owned();
    let migrated = ojs_relay(&server, &database, &["migrate"]).output().await.unwrap();
    assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));

    let (runs, client) = (Arc::<Mutex<Runs>>::default(), Client::connect(&server.url()).await.unwrap());
    let worker = work(&client, &runs);
    let left = Arc::new(AtomicU64::new(rows));
    let start = |writer| tokio::spawn(write(database.clone(), writer, StdRng::from_rng(&mut random), Arc::clone(&left)));
    let writers = (0..WRITERS).map(start).collect();
    let relays = [relay(&server, &database).await, relay(&server, &database).await];
    let mut targets = Targets { server, relays, database, kills: Kills::default() };
    fire(&mut targets, &client, writers, &mut random, rows).await;

    let admin = connect(&targets.database).await;
    let (run, kept) = (inserted(&admin, "run").await, inserted(&admin, "kept").await);
    assert!((run.len() + kept.len()) as u64 >= rows);
    let order = order_of(&targets.server, "kept").await;
    assert_eq!((order.len(), inversions(&order, &kept)), (kept.len(), 0), "jobs, and how many overtook another");
    assert!(order == kept, "the jobs are others");
    worker.shutdown(None).await;
    let stats = client.queue_stats("run").await.unwrap();
    assert_eq!((stats.completed, stats.discarded), (run.len() as u64, 0));
    let audited = targets.server.connect().await.get("/admin/system/audit").await.expect(200).json();
    assert_eq!(audited["sound"], true, "the store contradicts itself: {audited}");
    let Runs { rows, wrong } = &*runs.lock().unwrap();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(run.iter().all(|number| rows.contains_key(number)) && rows.len() == run.len(), "{} of {}", rows.len(), run.len());
    let again = rows.values().filter(|(_, times)| *times > 1).count();
    println!("{} jobs ran, {again} of them again after a server was killed; {} kept their order", rows.len(), order.len());
}
