//! `ojs-bench`: what this project claims about speed, measured.
//!
//! Every figure comes from the real server process, over real sockets, with an exact-delivery check, and stands beside a
//! ceiling or a rival measured in the same run. See `--help`, and `benches/README.md` for how to read the table.
mod check;
mod conditions;
mod connection;
mod ids;
mod load;
mod postgres;
mod redis;
mod report;
mod rivals;
mod scenario;
mod server;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use crate::report::Report;
use crate::scenario::Plan;

/// Every error ends the run with a message. A measurement cannot continue after a fault.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Measures the `ojs` server and the language packages beside ceilings and rivals.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// What to measure.
    #[arg(value_enum, default_value = "all")]
    what: What,
    /// The `ojs` binary [default: beside this one].
    #[arg(long)]
    bin: Option<PathBuf>,
    /// Where the databases of the run live; must be on a real disk [default: the system's temporary directory].
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Runs per figure; the table shows the median.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Seconds of one throughput run.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Scheduled, and finished, jobs in the store of `depth`.
    #[arg(long, default_value_t = 100_000)]
    deep: usize,
    /// Jobs of a run of `noop`.
    #[arg(long, default_value_t = 100_000)]
    jobs: usize,
    /// Handlers at a time in `noop`.
    #[arg(long, default_value_t = load::noop::MANY_SLOTS)]
    concurrency: usize,
    /// The server, or the store, of `noop`.
    #[arg(long, default_value = "memory:")]
    url: String,
    /// Writes everything that was measured to this file, every run included [default: target/bench/WHAT.json].
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Everything below.
    All,
    /// One durable job per request, 64 connections.
    HttpEnqueue,
    /// 100 durable jobs per request.
    HttpBatch,
    /// Enqueue, fetch and ack, in batches, at the same time.
    Cycle,
    /// Durable enqueue to receipt, idle queue, long-polling worker.
    Latency,
    /// Start time, idle memory and CPU, size of the binary.
    Footprint,
    /// Parsing of one enqueue request, without any server.
    Parse,
    /// Rust no-op handlers through the SDK, embedded and over HTTP.
    Rust,
    /// Python no-op handlers beside Celery and Dramatiq.
    Python,
    /// The PostgreSQL store beside River and graphile-worker: burn-down, with producers, single requests.
    Postgres,
    /// The outbox's relay: rows a second, commit to handler, take-over, cost of a staged job.
    Relay,
    /// Claims in a store full of scheduled and finished jobs, SQLite and PostgreSQL.
    Depth,
    /// One burn-down on PostgreSQL, its costs by half and side: to run under a profiler.
    #[value(hide = true)]
    Profile,
    /// One run of Rust handlers, as one line of JSON: for `languages.py`.
    #[value(hide = true)]
    Noop,
    /// Serves the ceiling: an HTTP server that answers at once. Used by the other scenarios.
    #[value(hide = true)]
    Echo,
}

fn main() -> ExitCode {
    let options = Options::parse();
    if options.what == What::Echo {
        return finish(scenario::echo::serve());
    }
    if options.what == What::Noop {
        return finish(scenario::rust::noop(&options.url, options.concurrency, options.jobs));
    }
    finish(run(&options))
}

fn finish(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ojs-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn report_file(what: What) -> PathBuf {
    let name = what.to_possible_value().map_or_else(|| "report".to_owned(), |value| value.get_name().to_owned());
    PathBuf::from("target/bench").join(name).with_extension("json")
}

fn run(options: &Options) -> Result<()> {
    let plan = Plan::new(options.bin.clone(), options.dir.clone(), options.runs.max(1), options.seconds)?;
    if options.what == What::Profile {
        return scenario::postgres::profile(&plan);
    }
    let mut report = Report::new(conditions::Conditions::read(&plan.dir));
    println!("{}", report.conditions);
    let wanted = |what: What| options.what == What::All || options.what == what;
    if wanted(What::Parse) {
        scenario::parse::run(&plan, &mut report)?;
    }
    if wanted(What::Footprint) {
        scenario::footprint::run(&plan, &mut report)?;
    }
    if wanted(What::HttpEnqueue) {
        scenario::enqueue::run(&plan, &mut report)?;
    }
    if wanted(What::HttpBatch) {
        scenario::batch::run(&plan, &mut report)?;
    }
    if wanted(What::Cycle) {
        scenario::cycle::run(&plan, &mut report)?;
    }
    if wanted(What::Latency) {
        scenario::latency::run(&plan, &mut report)?;
    }
    if wanted(What::Rust) {
        scenario::rust::run(&plan, &mut report)?;
    }
    if wanted(What::Depth) {
        scenario::depth::run(&plan, options.deep, &mut report)?;
    }
    if wanted(What::Relay) {
        scenario::relay::run(&plan, &mut report)?;
    }
    let postgres = if wanted(What::Postgres) { scenario::postgres::run(&plan, &mut report) } else { Ok(()) };
    let python = if wanted(What::Python) { scenario::python::run(&plan, &mut report) } else { Ok(()) };
    // What was measured is shown even when the last scenarios lack their tools.
    println!("{report}");
    let file = options.json.clone().unwrap_or_else(|| report_file(options.what));
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&file, report.to_json())?;
    println!("Every run: {}", file.display());
    postgres.and(python)
}
