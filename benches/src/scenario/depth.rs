//! What a claim costs beside many jobs that are not due and many that are done.
use std::time::{Duration, Instant};

use crate::Result;
use crate::ids::Ids;
use crate::load::{self, enqueue, worker};
use crate::postgres::Postgres;
use crate::report::{Better, Figure, Report};
use crate::scenario::Plan;
use crate::server::{Server, Store};

/// Claims measured.
pub const CLAIMS: usize = 2_000;
/// Connections that fill a store.
pub const CONNECTIONS: usize = 4;
/// Jobs of a request that fills a store.
pub const BATCH: usize = 500;
/// Filling a store takes most of the time.
pub const RUNS: usize = 3;

/// Median and 99th percentile of each run, in milliseconds.
#[derive(Default)]
pub struct Series {
    pub p50: Vec<f64>,
    pub p99: Vec<f64>,
}

impl Series {
    pub fn push(&mut self, mut samples: Vec<Duration>) {
        samples.sort();
        let at =
            |share: f64| samples.get(((samples.len() - 1) as f64 * share) as usize).map_or(f64::NAN, |d| d.as_secs_f64() * 1e3);
        self.p50.push(at(0.5));
        self.p99.push(at(0.99));
    }
}

/// Measures, with `deep` scheduled and as many finished jobs.
pub fn run(plan: &Plan, deep: usize, report: &mut Report) -> Result<()> {
    let runs = if deep > 200_000 { 1 } else { plan.runs.min(RUNS) };
    let bar = plan.progress("claims in a full store", runs * 4);
    let postgres = Postgres::start(&plan.dir)?;
    report.conditions.postgres.get_or_insert(postgres.settings()?);
    let [mut file_empty, mut file_full, mut base_empty, mut base_full] = [(); 4].map(|()| Series::default());
    for run in 0..runs {
        for (series, depth) in [(&mut file_empty, 0), (&mut file_full, deep)] {
            bar.set_message(format!("SQLite, {depth} jobs"));
            series.push(claims(&Server::start(&plan.bin, &plan.dir, Store::Durable)?, run, depth, || Ok(()))?);
            bar.inc(1);
        }
        for (series, depth) in [(&mut base_empty, 0), (&mut base_full, deep)] {
            bar.set_message(format!("PostgreSQL, {depth} jobs"));
            let database = postgres.database()?;
            let server = Server::on(&plan.bin, &plan.dir, database.url())?;
            series.push(claims(&server, run, depth, || Postgres::settle(&database))?);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    for (store, state, full, empty) in
        [("SQLite", "", file_full, file_empty), ("PostgreSQL", " after VACUUM and CHECKPOINT", base_full, base_empty)]
    {
        let conditions = |depth: usize| {
            format!(
                "{depth} scheduled and {depth} finished jobs in the same queue{state}; one exchange acks one job and claims the next"
            )
        };
        let figure = |name: &str, values, depth| {
            Figure::ours(format!("{store}, claim, {name}"), "ms", Better::Less, values, conditions(depth))
        };
        for (name, full, empty) in [("p50", full.p50, empty.p50), ("p99", full.p99, empty.p99)] {
            let ceiling = Figure::ceiling(format!("{store}, empty, {name}"), "ms", Better::Less, empty, conditions(0));
            report.add(vec![figure(name, full, deep), ceiling]);
        }
    }
    Ok(())
}

/// Median and 99th percentile of the claims of one server, in milliseconds.
pub fn percentiles(server: &Server, run: usize, depth: usize, settle: impl FnOnce() -> Result<()>) -> Result<Vec<f64>> {
    let mut series = Series::default();
    series.push(claims(server, run, depth, settle)?);
    Ok([series.p50, series.p99].concat())
}

/// The time of each claim. What fills the store leaves work behind, which `settle` does.
fn claims(server: &Server, run: usize, depth: usize, settle: impl FnOnce() -> Result<()>) -> Result<Vec<Duration>> {
    let ids = |kind: usize| Ids::new((kind * 0x100 + run) as u16);
    let (finished, scheduled, measured) = (ids(1), ids(2), ids(3));
    if depth > 0 {
        load::on_one_thread(async {
            enqueue::run(server.address, &finished, 0, CONNECTIONS, BATCH, enqueue::Until::Jobs(depth)).await?;
            worker::drain(server.address, &finished, depth, CONNECTIONS, BATCH).await?;
            enqueue::later(server.address, &scheduled, CONNECTIONS, BATCH, depth).await
        })?;
    }
    settle()?;
    load::on_one_thread(async {
        enqueue::run(server.address, &measured, 0, CONNECTIONS, BATCH, enqueue::Until::Jobs(CLAIMS)).await?;
        one_by_one(server, &measured).await
    })
}

/// Claims [`CLAIMS`] jobs that have been enqueued, each in the exchange that acks the one before; the time of each.
pub async fn one_by_one(server: &Server, measured: &Ids) -> Result<Vec<Duration>> {
    let mut worker = worker::Worker::open(server.address, 0).await?;
    let mut check = crate::check::Check::new(measured.clone(), CLAIMS);
    let mut samples = Vec::with_capacity(CLAIMS);
    for _ in 0..CLAIMS {
        let started = Instant::now();
        let done = worker.turn(1, 0).await?;
        samples.push(started.elapsed());
        done.iter().for_each(|id| check.completed(id));
    }
    worker.turn(0, 0).await?.iter().for_each(|id| check.completed(id));
    check.finish()?;
    Ok(samples)
}
