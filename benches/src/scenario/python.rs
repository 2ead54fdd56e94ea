//! Python handlers that do nothing, beside Celery and Dramatiq doing the same.
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::Result;
use crate::progress::Progress;
use crate::redis::Redis;
use crate::report::{Better, Figure, Report};
use crate::scenario::Plan;
use crate::server::{Server, Store};

/// Jobs per run, by what a system does in a few seconds.
const JOBS: usize = 50_000;
const CELERY_JOBS: usize = 5_000;
const DRAMATIQ_JOBS: usize = 15_000;
/// The rivals take long to start: the middle of three has to do.
const RIVAL_RUNS: usize = 3;

/// The line a script prints.
#[derive(Debug, Deserialize)]
struct Line {
    jobs_per_second: f64,
    #[serde(default)]
    system: String,
    #[serde(default)]
    how: String,
}

/// What the scripts need; `Err` says what to run first.
struct Tools {
    ours: PathBuf,
    rivals: PathBuf,
    root: PathBuf,
}

impl Tools {
    fn find(bar: &Progress) -> Result<Self> {
        let (root, ours) = (root()?, ours());
        if !ours.exists() {
            return Err("the Python package is not built: run `make python` (or scripts/python.sh) first".into());
        }
        bar.set_message("installing the rivals (benches/setup.sh)");
        if !Command::new(root.join("benches/setup.sh")).status()?.success() {
            return Err("benches/setup.sh failed: the rivals are not installed".into());
        }
        Ok(Self { ours, rivals: root.join("target/bench/venv/bin/python"), root })
    }

    /// Our worker at this URL.
    fn noop(&self, url: &str, coroutine: bool) -> Result<Line> {
        let mut command = Command::new(&self.ours);
        command.arg(script()?);
        command.args(["--url", url, "--jobs", &JOBS.to_string(), "--read-args", "--payload", "150"]);
        if coroutine {
            command.arg("--async");
        }
        line(command)
    }

    fn rival(&self, script: &str, jobs: usize, redis: &Redis, plan: &Plan) -> Result<Line> {
        let dir = tempfile::tempdir_in(&plan.dir)?;
        let mut command = Command::new(&self.rivals);
        command.arg(self.root.join("benches/python/rivals").join(script)).env("BENCH_REDIS", redis.url());
        command
            .args(["--jobs", &jobs.to_string(), "--payload", "150", "--processes", &cores().to_string(), "--dir"])
            .arg(dir.path());
        line(command)
    }
}

fn root() -> Result<PathBuf> {
    Ok(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?)
}

/// The Python in which our package is installed.
pub fn ours() -> PathBuf {
    let installed = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../.venv/bin/python");
    std::env::var_os("OJS_BENCH_PYTHON").map_or_else(installed, PathBuf::from)
}

/// Our worker, as a program.
pub fn script() -> Result<PathBuf> {
    Ok(root()?.join("python/benchmarks/noop.py"))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

/// Runs a script; its last line is the result.
fn line(mut command: Command) -> Result<Line> {
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().filter(|_| output.status.success());
    match last.map(serde_json::from_str) {
        Some(Ok(line)) => Ok(line),
        _ => Err(format!("{:?} failed: {}", command.get_args().next(), String::from_utf8_lossy(&output.stderr)).into()),
    }
}

/// Measures.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let rival_runs = plan.runs.min(RIVAL_RUNS);
    let bar = plan.progress("Python, no-op handler", plan.runs * 4 + rival_runs * 2);
    let tools = Tools::find(&bar)?;
    let mut group = vec![
        series(&bar, plan, "Python worker, embedded", Store::Durable, |url| tools.noop(url, false), false)?.bound(12_000.0, None),
        series(&bar, plan, "Python worker, embedded, async handler", Store::Durable, |url| tools.noop(url, true), false)?,
        series(&bar, plan, "Python worker over HTTP", Store::Durable, |url| tools.noop(url, false), true)?.bound(12_000.0, None),
    ];
    let memory = series(&bar, plan, "the same without a disk", Store::Memory, |url| tools.noop(url, false), false)?;
    group.push(Figure { side: crate::report::Side::Ceiling, ..memory });
    let redis = Redis::start(&plan.dir)?;
    for (script, jobs) in [("celery_noop.py", CELERY_JOBS), ("dramatiq_noop.py", DRAMATIQ_JOBS)] {
        bar.set_message(script);
        let mut lines = Vec::new();
        for _ in 0..rival_runs {
            lines.push(tools.rival(script, jobs, &redis, plan)?);
            bar.inc(1);
        }
        let values = lines.iter().map(|line| line.jobs_per_second).collect();
        let (system, how) = lines.last().map(|line| (line.system.clone(), line.how.clone())).unwrap_or_default();
        group.push(Figure::rival(system, "jobs/s", Better::More, values, format!("Redis without persistence; {how}")));
    }
    bar.finish_and_clear();
    report.add(group);
    Ok(())
}

/// One figure of ours: a fresh store for every run.
fn series(
    bar: &Progress,
    plan: &Plan,
    name: &str,
    store: Store,
    measure: impl Fn(&str) -> Result<Line>,
    http: bool,
) -> Result<Figure> {
    bar.set_message(name.to_owned());
    let mut values = Vec::new();
    for _ in 0..plan.runs {
        let dir = tempfile::tempdir_in(&plan.dir)?;
        let server = http.then(|| Server::start(&plan.bin, &plan.dir, store)).transpose()?;
        let url = match (&server, store) {
            (Some(server), _) => format!("http://{}", server.address),
            (None, Store::Durable) => format!("sqlite:{}", dir.path().join("jobs.db").display()),
            (None, Store::Memory) => "memory:".to_owned(),
        };
        values.push(measure(&url)?.jobs_per_second);
        bar.inc(1);
    }
    let conditions = format!(
        "{}; one process, 10 slots, defaults; handler reads its arguments and counts per job, 150 byte text",
        store.label()
    );
    Ok(Figure::ours(name, "jobs/s", Better::More, values, conditions))
}
