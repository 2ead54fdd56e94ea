//! What the page costs beside many jobs: each of its requests, five people who look while the server works, and a
//! search that never ends.
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::cycle;
use super::depth::{BATCH, CONNECTIONS};
use crate::Result;
use crate::connection::{Connection, get};
use crate::ids::Ids;
use crate::load::{self, enqueue, worker};
use crate::postgres::Postgres;
use crate::report::{Better, Figure, Report};
use crate::scenario::Plan;
use crate::server::{Server, Store};

/// The stores, by their names in the report.
const STORES: [&str; 2] = ["SQLite", "PostgreSQL"];
/// Requests of each kind that are measured.
const CALLS: usize = 300;
/// Requests of each kind before that.
const WARM_UP_CALLS: usize = 20;
/// Jobs of one filling: its requests have a time limit.
const PART: usize = 500_000;
/// One in so many jobs waits for tomorrow; the others are completed.
const SCHEDULED: usize = 10;
/// Open pages beside the load.
const PEOPLE: usize = 5;
/// How long a page that is told to stop waits for its stream, at most.
const LOOK: Duration = Duration::from_millis(100);
/// How much longer a request by id may take beside a search, milliseconds.
const MOST_BESIDE: f64 = 5.0;

/// What the overview reads.
const OVERVIEW: [&str; 6] = [
    "/ojs/v1/admin/stats",
    "/ojs/v1/admin/queues?per_page=100",
    "/ojs/v1/admin/workers?per_page=100",
    "/ojs/v1/admin/trains?state=held&per_page=1",
    "/ojs/v1/admin/jobs?state=discarded&count=false&per_page=6",
    "/ojs/v1/admin/relays?per_page=1",
];

/// Requests that one screen needs, and the milliseconds that they may take together, 99 times of 100.
struct Screen {
    name: &'static str,
    paths: Vec<String>,
    most: f64,
}

/// Measures, with so many jobs in each store.
pub fn run(plan: &Plan, kept: usize, stores: &[String], report: &mut Report) -> Result<()> {
    if let Some(other) = stores.iter().find(|store| !STORES.contains(&store.as_str())) {
        return Err(format!("--stores: '{other}' is none of {}", STORES.join(", ")).into());
    }
    let bar = plan.progress("the page beside many jobs", stores.len() * (1 + plan.runs));
    let postgres = Postgres::start(&plan.dir)?;
    report.conditions.postgres.get_or_insert(postgres.settings()?);
    for store in STORES.into_iter().filter(|store| stores.iter().any(|wanted| wanted == store)) {
        bar.set_message(store);
        let database = postgres.database()?;
        let server = match store {
            "SQLite" => Server::start(&plan.bin, &plan.dir, Store::Durable)?,
            _ => Server::on(&plan.bin, &plan.dir, database.url())?,
        };
        let waiting = load::on_one_thread(fill(&server, kept))?;
        if store != "SQLite" {
            Postgres::settle(&database)?;
        }
        screens(report, store, &server, kept, &waiting)?;
        bar.inc(1);
        beside_a_search(report, store, &server, kept, &waiting)?;
        watched(report, store, &server, kept, plan.runs, &|| bar.inc(1))?;
    }
    bar.finish_and_clear();
    Ok(())
}

/// Fills a store; the ids of the jobs that wait.
async fn fill(server: &Server, kept: usize) -> Result<Ids> {
    let waiting = Ids::new(0x900);
    for (part, first) in (0..kept).step_by(PART).enumerate() {
        let jobs = PART.min(kept - first) * (SCHEDULED - 1) / SCHEDULED;
        let done = Ids::new(0xa00 + part as u16);
        enqueue::run(server.address, &done, 0, CONNECTIONS, BATCH, enqueue::Until::Jobs(jobs)).await?;
        worker::drain(server.address, &done, jobs, CONNECTIONS, BATCH).await?;
    }
    enqueue::later(server.address, &waiting, CONNECTIONS, BATCH, kept / SCHEDULED).await?;
    Ok(waiting)
}

fn screens(report: &mut Report, store: &str, server: &Server, kept: usize, waiting: &Ids) -> Result<()> {
    let one = |name, path: String, most| Screen { name, paths: vec![path], most };
    let jobs = |query: &str| format!("/ojs/v1/admin/jobs?per_page=50&count=false{query}");
    let job = waiting.id(kept / SCHEDULED / 2);
    // A cursor in the middle of the store, in the order of acceptance.
    let deep = format!("&cursor=k0.{}", kept / 2);
    let all = [
        Screen { name: "overview", paths: OVERVIEW.map(str::to_owned).to_vec(), most: 20.0 },
        one("list, first page", jobs(""), 15.0),
        one("list, a page in the middle", jobs(&deep), 15.0),
        one("list of scheduled jobs", jobs("&state=scheduled"), 15.0),
        one("list of completed jobs, a page in the middle", jobs(&format!("&state=completed{deep}")), 15.0),
        one("search step by arguments that no job has", jobs("&q=args.0%3Anone"), 60.0),
        one("search step by a type that no job has", jobs("&q=type%3Anone"), 60.0),
        one("explain", format!("/ojs/v1/jobs/{job}/explain"), 10.0),
        one("history of a job", format!("/ojs/v1/jobs/{job}/history"), 10.0),
        one("figures of 24 hours", "/ojs/v1/admin/stats/history?period=1h".to_owned(), 50.0),
        one("figures of an hour", "/ojs/v1/admin/stats/history?period=1m".to_owned(), 50.0),
    ];
    let mut medians = Vec::new();
    for screen in all {
        let samples = load::on_one_thread(ask(server.address, &screen.paths))?;
        let conditions = format!("{kept} jobs in the store; {} requests one after another", screen.paths.len() * CALLS);
        let figure = |share, values| {
            Figure::ours(format!("{store}, {}, {share}", screen.name), "ms", Better::Less, values, conditions.clone())
        };
        report.add(vec![figure("p99", vec![at(&samples, 0.99)]).must(screen.most), figure("p50", vec![at(&samples, 0.5)])]);
        medians.push(at(&samples, 0.5));
    }
    if let [_, first, middle, ..] = medians[..] {
        let name = format!("{store}, a page in the middle to the first one, p50");
        report.add(vec![
            Figure::ours(name, "×", Better::Less, vec![middle / first], format!("{kept} jobs in the store")).must(1.5),
        ]);
    }
    Ok(())
}

/// The time of each reading of some paths, sorted.
async fn ask(address: SocketAddr, paths: &[String]) -> Result<Vec<Duration>> {
    let requests: Vec<Vec<u8>> = paths.iter().map(|path| get(path)).collect();
    let mut connection = Connection::open(address).await?;
    let mut samples = Vec::with_capacity(CALLS);
    for turn in 0..WARM_UP_CALLS + CALLS {
        let started = Instant::now();
        for request in &requests {
            connection.expect(request, 200).await?;
        }
        if turn >= WARM_UP_CALLS {
            samples.push(started.elapsed());
        }
    }
    samples.sort();
    Ok(samples)
}

fn at(sorted: &[Duration], share: f64) -> f64 {
    let place = (sorted.len().saturating_sub(1) as f64 * share) as usize;
    sorted.get(place).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
}

/// A request by id, alone and while others search without an end.
fn beside_a_search(report: &mut Report, store: &str, server: &Server, kept: usize, waiting: &Ids) -> Result<()> {
    let paths = [format!("/ojs/v1/jobs/{}", waiting.id(0))];
    let alone = load::on_one_thread(ask(server.address, &paths))?;
    let searches = vec!["/ojs/v1/admin/jobs?per_page=50&q=args.0%3Anone".to_owned()];
    let beside = beside(server.address, &searches, || load::on_one_thread(ask(server.address, &paths)))?;
    let more = at(&beside, 0.99) - at(&alone, 0.99);
    let name = format!("{store}, a job by its id: what searches add, p99");
    let conditions = format!("{kept} jobs in the store; {PEOPLE} clients that search all the time");
    report.add(vec![Figure::ours(name, "ms", Better::Less, vec![more.max(0.0)], conditions).must(MOST_BESIDE)]);
    Ok(())
}

/// The whole life of jobs, with and without people who look.
fn watched(report: &mut Report, store: &str, server: &Server, kept: usize, runs: usize, step: &dyn Fn()) -> Result<()> {
    let overview = OVERVIEW.map(str::to_owned).to_vec();
    let (mut rates, mut costs) = (Vec::new(), Vec::new());
    for run in 0..runs {
        let plain = |number| cycle::measure(server, number);
        let looked_at = |number| pages(server.address, &overview, || plain(number));
        // A B B A: what slows the machine for a while slows both.
        let (before, first) = if run % 2 == 0 {
            (plain(2 * run)?, looked_at(2 * run + 1)?)
        } else {
            let first = looked_at(2 * run)?;
            (plain(2 * run + 1)?, first)
        };
        rates.push(first.0 / before.0);
        costs.push(first.1 / before.1);
        step();
    }
    let conditions = format!(
        "{kept} jobs in the store; each page reads its overview again whenever the server says that something has changed"
    );
    let figure = |what, better, values| {
        let name = format!("{store}, {what} while {PEOPLE} pages are open, to without");
        Figure::ours(name, "×", better, values, conditions.clone())
    };
    report.add(vec![
        figure("enqueue, fetch and ack", Better::More, rates).must(0.97),
        figure("the server's processor time for a job", Better::Less, costs).must(1.03),
    ]);
    Ok(())
}

/// Runs something beside clients that read these paths all the time.
fn beside<T>(address: SocketAddr, paths: &[String], work: impl FnOnce() -> Result<T>) -> Result<T> {
    with_clients(|stop| read_on(address, paths.to_vec(), stop), work)
}

/// Runs something beside open pages.
fn pages<T>(address: SocketAddr, paths: &[String], work: impl FnOnce() -> Result<T>) -> Result<T> {
    with_clients(|stop| look(address, paths.to_vec(), stop), work)
}

fn with_clients<T, F>(client: impl Fn(Arc<AtomicBool>) -> F + Sync, work: impl FnOnce() -> Result<T>) -> Result<T>
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let stop = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        let clients = scope.spawn(|| {
            load::on_one_thread(async {
                let mut all = JoinSet::new();
                for _ in 0..PEOPLE {
                    all.spawn(client(Arc::clone(&stop)));
                }
                while let Some(ended) = all.join_next().await {
                    ended??;
                }
                Ok(())
            })
        });
        let done = work();
        stop.store(true, Ordering::Relaxed);
        clients.join().map_err(|_| "a client panicked")??;
        done
    })
}

/// Reads all the time.
async fn read_on(address: SocketAddr, paths: Vec<String>, stop: Arc<AtomicBool>) -> Result<()> {
    let mut connection = Connection::open(address).await?;
    while !stop.load(Ordering::Relaxed) {
        for path in &paths {
            connection.expect(&get(path), 200).await?;
        }
    }
    Ok(())
}

/// Reads whenever the stream says that something has changed, as the page does.
async fn look(address: SocketAddr, paths: Vec<String>, stop: Arc<AtomicBool>) -> Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(&get("/ojs/v1/events/stream?summary=true")).await?;
    let mut connection = Connection::open(address).await?;
    let mut buffer = [0; 4_096];
    while !stop.load(Ordering::Relaxed) {
        let Ok(read) = tokio::time::timeout(LOOK, stream.read(&mut buffer)).await else { continue };
        let text = &buffer[..read?];
        if text.is_empty() {
            return Err("the server ended the stream".into());
        }
        if memchr::memmem::find(text, b"event: changed").is_some() {
            for path in &paths {
                connection.expect(&get(path), 200).await?;
            }
        }
    }
    Ok(())
}
