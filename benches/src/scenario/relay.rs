//! The outbox's relay on PostgreSQL: how fast it empties a table, how soon a committed row is a job, how soon another relay takes over,
//! and what a staged job costs the application's own transaction.
use std::collections::HashMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ojs::outbox::{Dialect, PostgresOutbox, Relay, RelayOptions, Store, Style, Table, stage};
use ojs::{Client, Worker};
use tokio::sync::mpsc;
use tokio_postgres::NoTls;
use tokio_postgres::types::{ToSql, Type};

use crate::Result;
use crate::load::payload;
use crate::postgres::Postgres;
use crate::report::{Better, Figure, Report};
use crate::scenario::Plan;
use crate::server::Server;

/// Rows that wait when the relay starts.
const ROWS: i64 = 100_000;
/// Rows committed one by one, and how far apart: 1,000 a second.
const STEADY: usize = 4_000;
const STEP: Duration = Duration::from_millis(1);
/// Transactions with and without a staged job.
const TRANSACTIONS: usize = 1_000;
/// What does not happen within this time does not happen.
const PATIENCE: Duration = Duration::from_secs(120);
const RUNS: usize = 3;

/// Measures.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let runs = plan.runs.min(RUNS);
    let bar = plan.progress("relay", runs * 5);
    let postgres = Postgres::start(&plan.dir)?;
    report.conditions.postgres = Some(postgres.settings()?);
    let mut found = Found::default();
    for _ in 0..runs {
        for (batch, rates) in [(RelayOptions::default().batch_size, &mut found.defaults), (100, &mut found.small)] {
            bar.set_message(format!("batches of {batch}"));
            rates.push(with(plan, &postgres, |setting| setting.empty(batch))?);
            bar.inc(1);
        }
        bar.set_message("1,000 rows a second");
        let (until_taken, until_handled) = with(plan, &postgres, Setting::steady)?;
        found.taken.add(until_taken);
        found.handled.add(until_handled);
        bar.inc(1);
        bar.set_message("kill -9");
        found.takeovers.push(with(plan, &postgres, |setting| setting.take_over(&plan.bin))?);
        bar.inc(1);
        bar.set_message("transactions");
        let (without, along) = with(plan, &postgres, Setting::transactions)?;
        found.bare.push(without);
        found.staged.push(along);
        bar.inc(1);
    }
    bar.finish_and_clear();
    found.add_to(report);
    Ok(())
}

/// What the runs have measured.
#[derive(Default)]
struct Found {
    /// Rows a second, by the size of a batch.
    defaults: Vec<f64>,
    small: Vec<f64>,
    /// From the commit to the server, and to the handler.
    taken: Percentiles,
    handled: Percentiles,
    takeovers: Vec<f64>,
    /// Transactions without and with a job.
    bare: Vec<f64>,
    staged: Vec<f64>,
}

impl Found {
    fn add_to(self, report: &mut Report) {
        let server = "PostgreSQL with the outbox, SQLite server with fsync before the answer, 150 byte argument";
        let empties = |name: &str, rates: Vec<f64>| {
            Figure::ours(name, "rows/s", Better::More, rates, format!("{ROWS} rows wait; {server}"))
        };
        report.add(vec![
            empties("relay, default batches", self.defaults).bound(25_000.0, Some(50_000.0)),
            empties("relay, batches of 100", self.small),
        ]);
        let steady = "1,000 transactions a second with a row each; from the end of the commit";
        for (what, until, found, bounds) in [
            ("commit to available", "to the server's answer that it has the job", self.taken, [Some(5.0), Some(25.0)]),
            ("commit to handler", "to the worker's handler", self.handled, [None, None]),
        ] {
            for (name, samples, bound) in [("p50", found.half, bounds[0]), ("p99", found.most, bounds[1])] {
                let figure = Figure::ours(format!("{what}, {name}"), "ms", Better::Less, samples, format!("{steady} {until}"));
                report.add(vec![if let Some(bound) = bound { figure.bound(bound, None) } else { figure }]);
            }
        }
        let killed = "two relays, the one that sends gets kill -9; until a row committed after that is sent";
        report.add(vec![Figure::ours("take-over", "ms", Better::Less, self.takeovers, killed).bound(2_000.0, None)]);
        let one = "one row into a table of the application, one connection, fsync";
        report.add(vec![
            Figure::ours(
                "transaction with a job in it",
                "ms",
                Better::Less,
                self.staged,
                format!("{one}; and the job: one statement more"),
            ),
            Figure::ceiling("the same without", "ms", Better::Less, self.bare, one),
        ]);
    }
}

/// A database with an outbox, and a server.
struct Setting {
    server: Server,
    url: String,
    runtime: tokio::runtime::Runtime,
}

fn with<T>(plan: &Plan, postgres: &Postgres, measure: impl FnOnce(&Setting) -> Result<T>) -> Result<T> {
    let database = postgres.database()?;
    let server = Server::start(&plan.bin, &plan.dir, crate::server::Store::Durable)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let setting = Setting { server, url: database.url().to_owned(), runtime };
    setting.runtime.block_on(async {
        setting.store()?.migrate().await?;
        Ok::<_, Fault>(())
    })?;
    measure(&setting)
}

type Fault = Box<dyn std::error::Error + Send + Sync>;

impl Setting {
    fn store(&self) -> Result<Store> {
        Ok(Store::new(Table::default(), PostgresOutbox::new(&self.url)?))
    }

    async fn client(&self) -> Result<Client> {
        Ok(Client::connect(&format!("http://{}", self.server.address)).await?)
    }

    async fn database(&self) -> Result<tokio_postgres::Client> {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    }

    /// Rows per second until all are marked as sent.
    fn empty(&self, batch_size: usize) -> Result<f64> {
        self.runtime.block_on(async {
            let database = self.database().await?;
            let fill = "INSERT INTO ojs_outbox (job_type, job_args) SELECT 'bench.noop', jsonb_build_array($1::text::jsonb) FROM generate_series(1, $2)";
            database.execute(fill, &[&payload(), &(ROWS as i32)]).await?;
            database.batch_execute("VACUUM ANALYZE ojs_outbox").await?;
            let mut options = RelayOptions::default();
            options.batch_size = batch_size;
            let started = Instant::now();
            let relay = Relay::start(self.client().await?, self.store()?, options);
            while relay.status().sent < ROWS as u64 {
                patient(started)?;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let rate = ROWS as f64 / started.elapsed().as_secs_f64();
            relay.stop(PATIENCE).await;
            let left = database.query_one("SELECT count(*) FROM ojs_outbox WHERE status <> 'sent'", &[]).await?;
            match left.get::<_, i64>(0) {
                0 => Ok(rate),
                left => Err(format!("{left} rows are not marked as sent").into()),
            }
        })
    }

    /// From a commit until the server has the job, and until the handler runs.
    fn steady(&self) -> Result<(Vec<Duration>, Vec<Duration>)> {
        self.runtime.block_on(async {
            let client = self.client().await?;
            let (ran, mut runs) = mpsc::unbounded_channel();
            let worker = Worker::for_client(&client);
            worker.register("bench.noop", move |ctx| {
                let ran = ran.clone();
                async move { Ok(ran.send((ctx.id().to_owned(), Instant::now()))?) }
            })?;
            let handle = worker.start();
            let (took, mut takes) = mpsc::unbounded_channel();
            let relay = Relay::start(watched(&client, took), self.store()?, RelayOptions::default());
            let mut database = self.database().await?;
            let mut committed = HashMap::with_capacity(STEADY);
            let started = Instant::now();
            for number in 0..STEADY {
                tokio::time::sleep_until((started + STEP * number as u32).into()).await;
                let transaction = database.transaction().await?;
                let id = insert(&transaction).await?;
                transaction.commit().await?;
                committed.insert(id, Instant::now());
                relay.wake();
            }
            let handled = since(&mut committed.clone(), &mut runs).await?;
            relay.stop(PATIENCE).await;
            let taken = since(&mut committed, &mut takes).await?;
            handle.shutdown(None).await;
            Ok((taken, handled))
        })
    }

    /// Milliseconds from the end of one relay to the first row that another has sent.
    fn take_over(&self, bin: &Path) -> Result<f64> {
        let start = || -> Result<Process> {
            let mut command = Command::new(bin);
            command.args(["relay", "run", "--database", &self.url, "--url", &format!("http://{}", self.server.address)]);
            Ok(Process(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?))
        };
        self.runtime.block_on(async {
            let database = self.database().await?;
            let first = start()?;
            send_one(&database).await?;
            let _second = start()?;
            // It leads: rows go on being sent, and the other has had the time to start.
            for _ in 0..50 {
                send_one(&database).await?;
            }
            drop(first);
            let killed = Instant::now();
            send_one(&database).await?;
            Ok(killed.elapsed().as_secs_f64() * 1e3)
        })
    }

    /// Milliseconds of a transaction with one row of the application's, without and with a job.
    fn transactions(&self) -> Result<(f64, f64)> {
        self.runtime.block_on(async {
            let mut database = self.database().await?;
            database.batch_execute("CREATE TABLE users (id bigserial PRIMARY KEY, email text)").await?;
            let user = database.prepare("INSERT INTO users (email) VALUES ('ada@example.com')").await?;
            let mut spent = [Duration::ZERO; 2];
            // In turns: both see the same machine.
            for number in 0..TRANSACTIONS * 2 {
                let started = Instant::now();
                let transaction = database.transaction().await?;
                transaction.execute(&user, &[]).await?;
                if number % 2 == 1 {
                    insert(&transaction).await?;
                }
                transaction.commit().await?;
                if let Some(sum) = spent.get_mut(number % 2) {
                    *sum += started.elapsed();
                }
            }
            let [without, along] = spent.map(|sum| sum.as_secs_f64() * 1e3 / TRANSACTIONS as f64);
            Ok((without, along))
        })
    }
}

/// A client whose transport says when the server has answered for which jobs.
fn watched(client: &Client, took: mpsc::UnboundedSender<(String, Instant)>) -> Client {
    let inner = client.transport().clone();
    Client::new(ojs::transport::from_fn(move |request: ojs::transport::Request| {
        let (inner, took) = (inner.clone(), took.clone());
        async move {
            let body = request.body.clone().unwrap_or_default();
            let answer = inner.request(request).await?;
            let now = Instant::now();
            if answer.is_success() {
                let sent: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
                let jobs = sent.get("jobs").and_then(|jobs| jobs.as_array()).cloned().unwrap_or_else(|| vec![sent]);
                for id in jobs.iter().filter_map(|job| job.get("id")?.as_str()) {
                    let _ = took.send((id.to_owned(), now)); // the reader has ended
                }
            }
            Ok(answer)
        }
    }))
}

/// How long each took, once for each that was committed.
async fn since(
    committed: &mut HashMap<String, Instant>,
    seen: &mut mpsc::UnboundedReceiver<(String, Instant)>,
) -> Result<Vec<Duration>> {
    let mut samples = Vec::with_capacity(committed.len());
    while !committed.is_empty() {
        let (id, at) = tokio::time::timeout(PATIENCE, seen.recv()).await?.ok_or("the worker has ended")?;
        let since = committed.remove(&id).ok_or("a job came twice, or before its commit was known")?;
        samples.push(at.saturating_duration_since(since));
    }
    Ok(samples)
}

/// The middle and the late ones of each run, in milliseconds.
#[derive(Default)]
struct Percentiles {
    half: Vec<f64>,
    most: Vec<f64>,
}

impl Percentiles {
    fn add(&mut self, mut samples: Vec<Duration>) {
        samples.sort();
        let at =
            |share: f64| samples.get((samples.len() as f64 * share) as usize).copied().unwrap_or_default().as_secs_f64() * 1e3;
        self.half.push(at(0.5));
        self.most.push(at(0.99));
    }
}

/// A relay of its own process, killed with this.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may be gone.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Stages a job as applications do; returns its id.
async fn insert(transaction: &tokio_postgres::Transaction<'_>) -> Result<String> {
    let request = format!(r#"{{"type":"bench.noop","args":[{}]}}"#, payload());
    let staged = stage(request.as_bytes(), Dialect::Postgres, &Table::default())?;
    let (sql, texts) = staged.texts(Style::Dollar);
    let typed: Vec<(&(dyn ToSql + Sync), Type)> = texts.iter().map(|text| (text as _, Type::TEXT)).collect();
    transaction.query_typed(&sql, &typed).await?;
    Ok(staged.job_id)
}

/// Commits a row, tells the relays, and waits until it is sent.
async fn send_one(database: &tokio_postgres::Client) -> Result<()> {
    let row =
        database.query_one("INSERT INTO ojs_outbox (job_type, job_args) VALUES ('bench.noop', '[1]') RETURNING id", &[]).await?;
    database.batch_execute("NOTIFY ojs_outbox").await?;
    let started = Instant::now();
    loop {
        let found = database.query_one("SELECT status FROM ojs_outbox WHERE id = $1", &[&row.get::<_, i64>(0)]).await?;
        if found.get::<_, &str>(0) == "sent" {
            return Ok(());
        }
        patient(started)?;
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn patient(since: Instant) -> Result<()> {
    if since.elapsed() > PATIENCE { Err("the relay does not get on".into()) } else { Ok(()) }
}
