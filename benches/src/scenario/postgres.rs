//! The PostgreSQL store beside the fastest queues on PostgreSQL, all on one server, in turns.
use std::time::Duration;

use ojs_postgres_fixture::Database;

use crate::Result;
use crate::load::PAYLOAD_BYTES;
use crate::load::noop::{self, DEFAULT_SLOTS, MANY_SLOTS};
use crate::postgres::{Cost, Postgres, own_cpu};
use crate::progress::Progress;
use crate::report::{Better, Figure, Report};
use crate::rivals::{Graphile, How, Load, River};
use crate::scenario::{Plan, batch, cycle, enqueue, latency};
use crate::server::Server;

/// Jobs of a burn-down.
const JOBS: usize = 100_000;
/// For a rival that does a few thousand a second.
const FEW_JOBS: usize = 10_000;
/// What River's benchmark keeps waiting, and how long a run with producers takes.
const BACKLOG: usize = 75_000;
const PRODUCE: Duration = Duration::from_secs(6);
/// Each run brings a new database and many systems take turns: the middle of three has to do.
const RUNS: usize = 3;

/// What one system did in all runs.
#[derive(Default)]
struct Series {
    rate: Vec<f64>,
    cpu: Vec<f64>,
    wal: Vec<f64>,
}

/// Takes the measurements.
struct Bench<'a> {
    plan: &'a Plan,
    postgres: Postgres,
    bar: Progress,
}

impl Bench<'_> {
    /// One run in a new database: the rate, and what the whole life of the jobs has cost everybody.
    fn one(&self, series: &mut Series, name: &str, jobs: usize, work: impl FnOnce(&Database) -> Result<f64>) -> Result<()> {
        self.bar.set_message(name.to_owned());
        let database = self.postgres.database()?;
        let (before, own) = (self.postgres.cost()?, own_cpu()?);
        series.rate.push(work(&database)?);
        let Cost { cpu, wal } = self.postgres.cost()? - before;
        let cpu = cpu + (own_cpu()? - own);
        series.cpu.push(cpu.as_secs_f64() * 1e6 / jobs as f64);
        series.wal.push(wal as f64 / jobs as f64);
        self.bar.inc(1);
        Ok(())
    }

    fn over_http<T>(&self, database: &Database, work: impl FnOnce(&Server) -> Result<T>) -> Result<T> {
        work(&Server::on(&self.plan.bin, &self.plan.dir, database.url())?)
    }
}

/// Measures.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let runs = plan.runs.min(RUNS);
    let bar = plan.progress("PostgreSQL", runs * 12);
    bar.set_message("River and graphile-worker are being installed");
    let (river, graphile) = (River::install()?, Graphile::install()?);
    let bench = Bench { plan, postgres: Postgres::start(&plan.dir)?, bar };
    let settings = bench.postgres.settings()?;
    bench.bar.suspend(|| println!("PostgreSQL: {settings}"));
    report.conditions.postgres = Some(settings);
    burn_down(&bench, runs, &river, &graphile, report)?;
    bench.bar.suspend(|| report.show())?;
    producers(&bench, runs, &river, &graphile, report)?;
    bench.bar.suspend(|| report.show())?;
    requests(&bench, runs, report)?;
    bench.bar.finish_and_clear();
    Ok(())
}

fn ours(name: &str, series: &Series, conditions: &str) -> Figure {
    Figure::ours(name, "jobs/s", Better::More, series.rate.clone(), conditions)
}

fn rival(name: &str, series: &Series, conditions: &str) -> Figure {
    Figure::rival(name, "jobs/s", Better::More, series.rate.clone(), conditions)
}

fn conditions(slots: usize) -> String {
    format!("one process, {slots} slots, defaults; handler reads its arguments and counts per job, {PAYLOAD_BYTES} byte text")
}

fn burn_down(bench: &Bench, runs: usize, river: &River, graphile: &Graphile, report: &mut Report) -> Result<()> {
    let [mut embedded, mut wide, mut http, mut rivers, mut tuned, mut defaults] = [(); 6].map(|()| Series::default());
    let (mut how_tuned, mut how_defaults) = (String::new(), String::new());
    for _ in 0..runs {
        bench.one(&mut embedded, "embedded", JOBS, |db| noop::burn_down(db.url(), DEFAULT_SLOTS, JOBS))?;
        bench.one(&mut rivers, "River", JOBS, |db| river.run(db, Load::BurnDown(JOBS)))?;
        bench.one(&mut wide, "many slots", JOBS, |db| noop::burn_down(db.url(), MANY_SLOTS, JOBS))?;
        bench.one(&mut tuned, "graphile-worker", JOBS, |db| {
            let line = graphile.run(db, How::Tuned, Load::BurnDown(JOBS))?;
            how_tuned = line.how;
            Ok(line.jobs_per_second)
        })?;
        bench.one(&mut http, "over HTTP", JOBS, |db| {
            bench.over_http(db, |server| noop::burn_down(&format!("http://{}", server.address), DEFAULT_SLOTS, JOBS))
        })?;
        bench.one(&mut defaults, "graphile-worker, defaults", FEW_JOBS, |db| {
            let line = graphile.run(db, How::Defaults, Load::BurnDown(FEW_JOBS))?;
            how_defaults = line.how;
            Ok(line.jobs_per_second)
        })?;
    }
    report.add(vec![
        ours("PostgreSQL, burn-down, embedded", &embedded, &conditions(DEFAULT_SLOTS)).bound(45_000.0, Some(60_000.0)),
        ours("PostgreSQL, burn-down, embedded, many slots", &wide, &conditions(MANY_SLOTS)),
        ours("PostgreSQL, burn-down over HTTP", &http, &conditions(DEFAULT_SLOTS)).bound(45_000.0, None),
        rival("River", &rivers, &River::conditions()),
        rival("graphile-worker, tuned", &tuned, &how_tuned),
        rival("graphile-worker, defaults", &defaults, &how_defaults),
    ]);
    let all = [("ours, embedded", &embedded), ("River", &rivers), ("graphile-worker, tuned", &tuned)];
    let conditions = "PostgreSQL, worker and enqueueing together, from enqueue to completion";
    report.add(costs(&all, "CPU per job", "µs", conditions, |series| series.cpu.clone()));
    report.add(costs(&all, "log (WAL) per job", "bytes", conditions, |series| series.wal.clone()));
    Ok(())
}

fn costs(
    all: &[(&str, &Series)],
    what: &str,
    unit: &'static str,
    conditions: &str,
    values: impl Fn(&Series) -> Vec<f64>,
) -> Vec<Figure> {
    let figure = |(at, (name, series)): (usize, &(&str, &Series))| {
        let make = if at == 0 { Figure::ours } else { Figure::rival };
        make(format!("{what}, {name}"), unit, Better::Less, values(series), conditions)
    };
    all.iter().enumerate().map(figure).collect()
}

fn producers(bench: &Bench, runs: usize, river: &River, graphile: &Graphile, report: &mut Report) -> Result<()> {
    let [mut embedded, mut rivers, mut tuned] = [(); 3].map(|()| Series::default());
    let load = Load::Producers { backlog: BACKLOG, seconds: PRODUCE.as_secs() };
    for _ in 0..runs {
        bench.one(&mut embedded, "with a producer", 1, |db| noop::with_producer(db.url(), DEFAULT_SLOTS, BACKLOG, PRODUCE))?;
        bench.one(&mut rivers, "River with a producer", 1, |db| river.run(db, load))?;
        bench.one(&mut tuned, "graphile-worker with a producer", 1, |db| {
            Ok(graphile.run(db, How::Tuned, load)?.jobs_per_second)
        })?;
    }
    let producer = format!("a producer in the same process keeps {BACKLOG} jobs waiting, {} s", PRODUCE.as_secs());
    report.add(vec![
        ours("PostgreSQL, with a producer, embedded", &embedded, &format!("{producer}; {}", conditions(DEFAULT_SLOTS)))
            .bound(15_000.0, None),
        rival("River with a producer", &rivers, &format!("{producer}, batches of 5 000; {}", River::conditions())),
        rival("graphile-worker, tuned, with a producer", &tuned, &producer),
    ]);
    Ok(())
}

/// One burn-down, with the cost of each half on each side: for use under a profiler.
pub fn profile(plan: &Plan) -> Result<()> {
    let postgres = Postgres::start_watched(&plan.dir)?;
    let database = postgres.database()?;
    Postgres::count_statements(&database)?;
    let now = || Ok((postgres.cost()?, own_cpu()?)) as Result<(Cost, Duration)>;
    let (start, mut middle) = (now()?, None);
    let rate = noop::burn_down_after(database.url(), DEFAULT_SLOTS, JOBS, || {
        println!("enqueue:\n{}", Postgres::dearest(&database)?);
        Postgres::count_statements(&database)?;
        middle = Some(now()?);
        Ok(())
    })?;
    let end = now()?;
    println!("claim and ack:\n{}", Postgres::dearest(&database)?);
    let middle = middle.unwrap_or(start);
    for (half, (cost, own), (cost_before, own_before)) in [("enqueue", middle, start), ("claim and ack", end, middle)] {
        let Cost { cpu, wal } = cost - cost_before;
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / JOBS as f64;
        let wal = wal as f64 / JOBS as f64;
        println!(
            "{half}: PostgreSQL {:.1} µs, this process {:.1} µs, log {wal:.0} bytes per job",
            micros(cpu),
            micros(own - own_before)
        );
    }
    println!("{rate:.0} jobs/s");
    Ok(())
}

/// Single requests against `ojs server` on PostgreSQL.
fn requests(bench: &Bench, runs: usize, report: &mut Report) -> Result<()> {
    let [mut single, mut batches, mut cycles] = [(); 3].map(|()| Series::default());
    let (mut p50, mut p99) = (Vec::new(), Vec::new());
    for run in 0..runs {
        bench.one(&mut single, "single enqueue", 1, |db| {
            bench.over_http(db, |server| Ok(enqueue::measure(bench.plan, server, run)?.0))
        })?;
        bench
            .one(&mut batches, "batch enqueue", 1, |db| bench.over_http(db, |server| Ok(batch::measure(server, run, JOBS)?.0)))?;
        bench.one(&mut cycles, "cycle", 1, |db| bench.over_http(db, |server| Ok(cycle::measure(server, run)?.0)))?;
        let mut unused = Series::default();
        bench.one(&mut unused, "latency", 1, |db| {
            let (half, most) = bench.over_http(db, |server| latency::of(server, run))?;
            p50.push(half);
            p99.push(most);
            Ok(0.0)
        })?;
    }
    let at = |connections: usize, batch: usize| {
        format!("fsync before the answer; {connections} connections, {batch} jobs per request")
    };
    report.add(vec![
        ours("PostgreSQL, single enqueue over HTTP", &single, &at(enqueue::CONNECTIONS, 1)),
        ours("PostgreSQL, batch enqueue over HTTP", &batches, &at(batch::CONNECTIONS, batch::BATCH)),
        ours("PostgreSQL, enqueue, fetch and ack", &cycles, "2 producers and 4 workers at the same time, 100 jobs per request"),
    ]);
    let idle = "fsync before the answer; idle queue, one worker in a long poll";
    report.add(vec![
        Figure::ours("PostgreSQL, pick-up latency, p50", "ms", Better::Less, p50, idle),
        Figure::ours("PostgreSQL, pick-up latency, p99", "ms", Better::Less, p99, idle),
    ]);
    Ok(())
}
