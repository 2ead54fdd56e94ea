//! `ojs-bench`: what this project claims about speed, measured.
//!
//! Every figure comes from the real server process, over real sockets, with an exact-delivery check, and stands beside a
//! ceiling or a rival measured in the same run. See `--help`, and `benches/README.md` for how to read the table.
mod against;
mod check;
mod conditions;
mod connection;
mod ids;
mod load;
mod postgres;
mod progress;
mod redis;
mod report;
mod rivals;
mod scenario;
mod server;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use crate::against::{Part, Version};
use crate::report::Report;
use crate::scenario::Plan;

/// Every error ends the run with a message. A measurement cannot continue after a fault.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Measures the `ojs` server and the language packages beside ceilings and rivals, or beside another version of themselves.
///
/// Each table is printed when it is measured. Progress goes to stderr: a bar on a terminal, elsewhere a line per run.
#[derive(Debug, Parser)]
#[command(version, after_long_help = AGAINST)]
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
    /// Runs per figure, or pairs of turns with --against; the table shows the median.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Seconds of one throughput run.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Scheduled, and finished, jobs in the store of `depth`.
    #[arg(long, default_value_t = 100_000)]
    deep: usize,
    /// Trains in the store of `trains`, each with 100 jobs.
    #[arg(long, default_value_t = 10_000)]
    trains: usize,
    /// Jobs of the heavy tenant of `fair`.
    #[arg(long, default_value_t = 1_000_000)]
    heavy: usize,
    /// Jobs of each of the other tenants of `fair`.
    #[arg(long, default_value_t = 100)]
    each: usize,
    /// Jobs in the stores of `dashboard`.
    #[arg(long, default_value_t = 1_000_000)]
    kept: usize,
    /// The stores of `dashboard`, by their names: `SQLite`, `PostgreSQL`; both without it.
    #[arg(long, value_delimiter = ',', default_value = "SQLite,PostgreSQL")]
    stores: Vec<String>,
    /// Jobs of a run of `noop`.
    #[arg(long, default_value_t = 100_000)]
    jobs: usize,
    /// Handlers at a time in `noop`.
    #[arg(long, default_value_t = load::noop::MANY_SLOTS)]
    concurrency: usize,
    /// The server, or the store, of `noop`.
    #[arg(long, default_value = "memory:")]
    url: String,
    /// Another version's `ojs` or `ojs-bench`: measures both in turns, and shows both medians and their ratio. May be given twice;
    /// the program that is not named is looked for beside the one that is.
    #[arg(long, value_name = "BINARY")]
    against: Vec<PathBuf>,
    /// The Python in which the other version's package is installed, for `python` with --against.
    #[arg(long, value_name = "PYTHON", requires = "against")]
    against_python: Option<PathBuf>,
    /// Writes everything that was measured to this file, every run included [default: target/bench/WHAT.json].
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

const AGAINST: &str = "\
Two versions in turns, on this machine:

  ojs-bench all --against ../before/target/release/ojs
  ojs-bench cycle --against ../before/target/release/ojs --runs 9 --seconds 1

Turns come in the order A B B A, on the same disk, and each pair of turns gives a ratio: what slows the machine for a while slows both. The
table has both medians, the median of the ratios, and the lowest and highest of them; above 1 this version is better, below 0.97 it is
called slower. The server is measured with the other version's `ojs`; `rust` and `postgres`, whose worker is part of ojs-bench, also with
its `ojs-bench`, as a process of its own; `python` with the interpreter of --against-python. `all` then means footprint, http-enqueue,
http-batch, cycle, latency, rust, postgres, and python where its interpreter is given; `depth` can be named. There are no rivals, no
ceilings, and no comparison for parse and relay.";

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
    /// Claims beside trains, and the next job of a train, SQLite and PostgreSQL.
    Trains,
    /// Push delivery: jobs a second, commit to endpoint, claims beside endpoints, cold start of handlers.
    Push,
    /// Waits of small tenants beside one with `--heavy` jobs in a shared queue, shares by weight; both stores.
    Fair,
    /// The page beside `--kept` jobs: each of its requests, five open pages beside a load, searches; both stores.
    Dashboard,
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

fn report_file(options: &Options) -> PathBuf {
    let name = options.what.to_possible_value().map_or_else(|| "report".to_owned(), |value| value.get_name().to_owned());
    let name = if options.against.is_empty() { name } else { format!("{name}-against") };
    options.json.clone().unwrap_or_else(|| PathBuf::from("target/bench").join(name).with_extension("json"))
}

fn run(options: &Options) -> Result<()> {
    let plan = Plan::new(options.bin.clone(), options.dir.clone(), options.runs.max(1), options.seconds)?;
    if options.what == What::Profile {
        return scenario::postgres::profile(&plan);
    }
    let file = report_file(options);
    if !options.against.is_empty() {
        let theirs = Version::of(&options.against, options.against_python.clone())?;
        return against::run(&plan, &parts(options)?, &theirs, &file);
    }
    let mut report = Report::new(conditions::Conditions::read(&plan.dir), file.clone());
    println!("{}", report.conditions);
    let measured = scenarios(&plan, options, &mut report);
    // What a scenario has measured before it failed.
    report.show()?;
    println!("Every run: {}", file.display());
    measured
}

/// What is compared with another version.
fn parts(options: &Options) -> Result<Vec<Part>> {
    let one = match options.what {
        What::All => {
            let mut all =
                vec![Part::Footprint, Part::HttpEnqueue, Part::HttpBatch, Part::Cycle, Part::Latency, Part::Rust, Part::Postgres];
            all.extend(options.against_python.is_some().then_some(Part::Python));
            return Ok(all);
        }
        What::Footprint => Part::Footprint,
        What::HttpEnqueue => Part::HttpEnqueue,
        What::HttpBatch => Part::HttpBatch,
        What::Cycle => Part::Cycle,
        What::Latency => Part::Latency,
        What::Rust => Part::Rust,
        What::Python => Part::Python,
        What::Postgres => Part::Postgres,
        What::Depth => Part::Depth(options.deep),
        What::Parse
        | What::Relay
        | What::Trains
        | What::Fair
        | What::Push
        | What::Dashboard
        | What::Profile
        | What::Noop
        | What::Echo => {
            return Err("this scenario is not measured against another version; --help names those that are".into());
        }
    };
    Ok(vec![one])
}

/// Measures, and shows each scenario when it has ended.
fn scenarios(plan: &Plan, options: &Options, report: &mut Report) -> Result<()> {
    let mut failed = None;
    for what in What::value_variants() {
        if options.what != What::All && options.what != *what {
            continue;
        }
        let measured = match what {
            What::Parse => scenario::parse::run(plan, report),
            What::Footprint => scenario::footprint::run(plan, report),
            What::HttpEnqueue => scenario::enqueue::run(plan, report),
            What::HttpBatch => scenario::batch::run(plan, report),
            What::Cycle => scenario::cycle::run(plan, report),
            What::Latency => scenario::latency::run(plan, report),
            What::Rust => scenario::rust::run(plan, report),
            What::Depth => scenario::depth::run(plan, options.deep, report),
            What::Trains => scenario::trains::run(plan, options.trains, report),
            What::Relay => scenario::relay::run(plan, report),
            What::Push => scenario::push::run(plan, report),
            What::Fair => scenario::fair::run(plan, options.heavy, options.each, report),
            What::Dashboard => scenario::dashboard::run(plan, options.kept, &options.stores, report),
            What::Postgres => scenario::postgres::run(plan, report),
            What::Python => scenario::python::run(plan, report),
            What::All | What::Profile | What::Noop | What::Echo => Ok(()),
        };
        let measured = measured.and_then(|()| report.hold_bounds());
        report.show()?;
        // One may lack its tools, which does not end the others.
        if let Err(error) = measured {
            if options.what != What::All {
                return Err(error);
            }
            eprintln!("ojs-bench: {error}");
            failed.get_or_insert("a scenario was not measured, or missed a bound: the message is above");
        }
    }
    failed.map_or(Ok(()), |text| Err(text.into()))
}
