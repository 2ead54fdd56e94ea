//! What two versions are compared in.
use std::path::Path;

use ojs_postgres_fixture::Database;

use super::{Contest, Line, Version};
use crate::Result;
use crate::load::PAYLOAD_BYTES;
use crate::load::noop::DEFAULT_SLOTS;
use crate::postgres::Postgres;
use crate::report::Better;
use crate::scenario::{Plan, batch, cycle, depth, enqueue, footprint, latency};
use crate::server::{Server, Store};

/// Jobs of a turn of a worker: a second or two.
const JOBS: usize = 50_000;
/// Jobs of a turn of batches: delivering them takes longer than enqueueing.
const BATCH_JOBS: usize = 50_000;

const RATE: Line = Line { name: "", unit: "jobs/s", better: Better::More };
const CPU: Line = Line { name: "server CPU per job", unit: "µs", better: Better::Less };
const WORKER_CPU: Line = Line { name: "CPU of the worker's process per job", unit: "µs", better: Better::Less };
const P50: Line = Line { name: "p50", unit: "ms", better: Better::Less };
const P99: Line = Line { name: "p99", unit: "ms", better: Better::Less };

/// A scenario that can be measured for two versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Start and memory.
    Footprint,
    /// Single requests.
    HttpEnqueue,
    /// Batches.
    HttpBatch,
    /// Enqueue, fetch and ack.
    Cycle,
    /// Enqueue to receipt.
    Latency,
    /// The worker in Rust.
    Rust,
    /// The worker in Python.
    Python,
    /// The same on PostgreSQL.
    Postgres,
    /// Claims in a full store, with so many scheduled and finished jobs.
    Depth(usize),
}

type Hold<'h> = dyn FnMut(Contest) -> Result<()> + 'h;

impl Part {
    /// As on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Footprint => "footprint",
            Self::HttpEnqueue => "http-enqueue",
            Self::HttpBatch => "http-batch",
            Self::Cycle => "cycle",
            Self::Latency => "latency",
            Self::Rust => "rust",
            Self::Python => "python",
            Self::Postgres => "postgres",
            Self::Depth(_) => "depth",
        }
    }

    /// Gives each contest of this part to `hold`, one after another.
    ///
    /// # Errors
    /// What a turn, or `hold`, has failed with.
    pub fn contests(self, plan: &Plan, theirs: &Version, mut hold: impl FnMut(Contest) -> Result<()>) -> Result<()> {
        let hold: &mut Hold = &mut hold;
        match self {
            Self::Footprint => of_footprint(plan, hold),
            Self::HttpEnqueue | Self::HttpBatch | Self::Cycle | Self::Latency => self.over_http(plan, hold),
            Self::Rust => of_rust(plan, hold),
            Self::Python => of_python(plan, theirs, hold),
            Self::Postgres => of_postgres(plan, hold),
            Self::Depth(jobs) => of_depth(plan, jobs, hold),
        }
    }

    /// The load of a part on the SQLite server of a version.
    fn over_http(self, plan: &Plan, hold: &mut Hold) -> Result<()> {
        let (title, lines, how) = self.shape();
        hold(Contest {
            title: title.to_owned(),
            conditions: format!("{}; {how}, {PAYLOAD_BYTES} byte argument", Store::Durable.label()),
            lines,
            turn: Box::new(move |version, pair| {
                let plan = version.plan(plan)?;
                self.load(&plan, &Server::start(&plan.bin, &plan.dir, Store::Durable)?, pair)
            }),
        })
    }

    const fn shape(self) -> (&'static str, &'static [Line], &'static str) {
        match self {
            Self::HttpBatch => ("batch enqueue over HTTP", &[RATE, CPU], "8 connections, 100 jobs per request"),
            Self::Cycle => ("enqueue, fetch and ack", &[RATE, CPU], "2 producers, 4 workers, 100 jobs per request"),
            Self::Latency => ("pick-up latency", &[P50, P99], "idle queue, one worker in a long poll"),
            _ => ("single enqueue over HTTP", &[RATE, CPU], "64 connections, 1 job per request"),
        }
    }

    fn load(self, plan: &Plan, server: &Server, pair: usize) -> Result<Vec<f64>> {
        let (one, other) = match self {
            Self::HttpBatch => batch::measure(server, pair, BATCH_JOBS)?,
            Self::Cycle => cycle::measure(server, pair)?,
            Self::Latency => latency::of(server, pair)?,
            _ => enqueue::measure(plan, server, pair)?,
        };
        Ok(vec![one, other])
    }
}

fn of_footprint(plan: &Plan, hold: &mut Hold) -> Result<()> {
    const LINES: [Line; 2] = [
        Line { name: "to the first 200 on /health", unit: "ms", better: Better::Less },
        Line { name: "memory after it", unit: "MB", better: Better::Less },
    ];
    hold(Contest {
        title: "start".to_owned(),
        conditions: "new SQLite file; from the start of the process".to_owned(),
        lines: &LINES,
        turn: Box::new(|version, _| {
            let plan = version.plan(plan)?;
            let server = Server::start(&plan.bin, &plan.dir, Store::Durable)?;
            let start = footprint::first_answer(&server)?.as_secs_f64() * 1e3;
            Ok(vec![start, server.resident()? as f64 / 1e6])
        }),
    })
}

fn slots() -> String {
    format!("one process, {DEFAULT_SLOTS} slots, defaults, {JOBS} jobs; handler reads its arguments, {PAYLOAD_BYTES} byte text")
}

fn of_rust(plan: &Plan, hold: &mut Hold) -> Result<()> {
    hold(Contest {
        title: "Rust worker, embedded".to_owned(),
        conditions: format!("{}; {}", Store::Durable.label(), slots()),
        lines: &[RATE, WORKER_CPU],
        turn: Box::new(|version, _| {
            let dir = tempfile::tempdir_in(&plan.dir)?;
            version.noop(&file_in(dir.path()), DEFAULT_SLOTS, JOBS)
        }),
    })?;
    hold(Contest {
        title: "Rust worker over HTTP".to_owned(),
        conditions: format!("{}; worker and server of one version; {}", Store::Durable.label(), slots()),
        lines: &[RATE, WORKER_CPU],
        turn: Box::new(|version, _| {
            let plan = version.plan(plan)?;
            let server = Server::start(&plan.bin, &plan.dir, Store::Durable)?;
            version.noop(&format!("http://{}", server.address), DEFAULT_SLOTS, JOBS)
        }),
    })
}

fn of_python(plan: &Plan, theirs: &Version, hold: &mut Hold) -> Result<()> {
    let script = crate::scenario::python::script()?;
    theirs.has_python()?;
    hold(Contest {
        title: "Python worker, embedded".to_owned(),
        conditions: format!("{}; {}", Store::Durable.label(), slots()),
        lines: &[RATE],
        turn: Box::new(|version, _| {
            let dir = tempfile::tempdir_in(&plan.dir)?;
            version.python(&script, &file_in(dir.path()), JOBS)
        }),
    })
}

fn file_in(dir: &Path) -> String {
    format!("sqlite:{}", dir.join("jobs.db").display())
}

fn of_postgres(plan: &Plan, hold: &mut Hold) -> Result<()> {
    let postgres = Postgres::start(&plan.dir)?;
    let settings = format!("PostgreSQL, new database, fsync; {}", slots());
    hold(Contest {
        title: "PostgreSQL, burn-down, embedded".to_owned(),
        conditions: settings.clone(),
        lines: &[RATE, WORKER_CPU],
        turn: Box::new(|version, _| version.noop(postgres.database()?.url(), DEFAULT_SLOTS, JOBS)),
    })?;
    hold(Contest {
        title: "PostgreSQL, burn-down over HTTP".to_owned(),
        conditions: settings,
        lines: &[RATE, WORKER_CPU],
        turn: Box::new(|version, _| {
            let database = postgres.database()?;
            let server = on(version, plan, &database)?;
            version.noop(&format!("http://{}", server.address), DEFAULT_SLOTS, JOBS)
        }),
    })?;
    for part in [Part::HttpEnqueue, Part::HttpBatch, Part::Cycle, Part::Latency] {
        let (title, lines, how) = part.shape();
        hold(Contest {
            title: format!("PostgreSQL, {title}"),
            conditions: format!("new database, fsync before the answer; {how}"),
            lines,
            turn: Box::new(|version, pair| {
                let database = postgres.database()?;
                part.load(plan, &on(version, plan, &database)?, pair)
            }),
        })?;
    }
    Ok(())
}

/// The server of a version on a database.
fn on(version: &Version, plan: &Plan, database: &Database) -> Result<Server> {
    let plan = version.plan(plan)?;
    Server::on(&plan.bin, &plan.dir, database.url())
}

fn of_depth(plan: &Plan, jobs: usize, hold: &mut Hold) -> Result<()> {
    let postgres = Postgres::start(&plan.dir)?;
    let conditions =
        format!("{jobs} scheduled and {jobs} finished jobs in the same queue; one exchange acks one job and claims the next");
    hold(Contest {
        title: "SQLite, claim".to_owned(),
        conditions: conditions.clone(),
        lines: &[P50, P99],
        turn: Box::new(|version, pair| {
            let plan = version.plan(plan)?;
            depth::percentiles(&Server::start(&plan.bin, &plan.dir, Store::Durable)?, pair, jobs, || Ok(()))
        }),
    })?;
    hold(Contest {
        title: "PostgreSQL, claim".to_owned(),
        conditions,
        lines: &[P50, P99],
        turn: Box::new(|version, pair| {
            let database = postgres.database()?;
            depth::percentiles(&on(version, plan, &database)?, pair, jobs, || Postgres::settle(&database))
        }),
    })
}
