//! Rivals on PostgreSQL, installed by the benchmark itself from the public registries, in fixed versions.
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ojs_postgres_fixture::Database;
use serde::Deserialize;

use crate::Result;

const RIVER: &str = "0.5.0";

/// River's Rust client and its own benchmark.
pub struct River {
    program: PathBuf,
}

/// graphile-worker.
pub struct Graphile {
    directory: PathBuf,
}

/// How graphile-worker is set.
#[derive(Debug, Clone, Copy)]
pub enum How {
    /// A local queue of 500, completions in batches.
    Tuned,
    /// As it comes, apart from the number of jobs at a time.
    Defaults,
}

/// What the rival does.
#[derive(Debug, Clone, Copy)]
pub enum Load {
    /// So many jobs, inserted beforehand.
    BurnDown(usize),
    /// A producer keeps this backlog for these seconds.
    Producers {
        /// Jobs waiting.
        backlog: usize,
        /// Length of the run.
        seconds: u64,
    },
}

/// The line a script prints.
#[derive(Debug, Deserialize)]
pub struct Line {
    /// The rate.
    pub jobs_per_second: f64,
    /// Its settings.
    pub how: String,
}

fn directory() -> Result<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/bench/rivals");
    std::fs::create_dir_all(&directory)?;
    Ok(directory.canonicalize()?)
}

/// Runs a command; its error output is the message if it fails.
fn checked(command: &mut Command, advice: &str) -> Result<Output> {
    let name = command.get_program().display().to_string();
    let output = command.output().map_err(|error| format!("cannot start {name}: {error}. {advice}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let error = String::from_utf8_lossy(&output.stderr);
    let end: Vec<&str> = error.lines().rev().take(12).collect();
    let end: Vec<&str> = end.into_iter().rev().collect();
    Err(format!("{name} failed: {}\n{advice}", end.join("\n")).into())
}

impl River {
    /// Installs it if it is not there.
    pub fn install() -> Result<Self> {
        let root = directory()?;
        let program = root.join("bin/riverqueue");
        let version = Command::new(&program).arg("--help").output();
        if !version.is_ok_and(|output| output.status.success()) {
            let mut cargo = Command::new("cargo");
            cargo.args(["install", "--quiet", "--locked", "riverqueue-cli", "--version", RIVER, "--root"]).arg(&root);
            cargo.arg("--target-dir").arg(root.join("build"));
            checked(&mut cargo, "River is compiled from crates.io once; without a network, leave out the scenario `postgres`.")?;
        }
        Ok(Self { program })
    }

    /// What it is and how it runs, as in its own source.
    pub fn conditions() -> String {
        format!(
            "River {RIVER} (Rust), its own benchmark: 2,000 workers, 50 connections, fetch every 2 ms, argument of 12 bytes; \
             handler does nothing"
        )
    }

    /// Jobs per second.
    pub fn run(&self, database: &Database, load: Load) -> Result<f64> {
        let call = |arguments: &[&str]| {
            let mut command = Command::new(&self.program);
            command.args(arguments).args(["--database-url", database.url()]);
            checked(&mut command, "")
        };
        call(&["migrate-up"])?;
        let output = match load {
            Load::BurnDown(jobs) => call(&["bench", "--num-total-jobs", &jobs.to_string()])?,
            Load::Producers { backlog, seconds } => {
                call(&["bench", "--duration", &format!("{seconds}s"), "--backlog", &backlog.to_string()])?
            }
        };
        let text = String::from_utf8_lossy(&output.stdout);
        rate_of_river(&text).ok_or_else(|| format!("River's last line has no rate: {text}").into())
    }
}

/// `… overall job/sec [    11706.6 ], …`
fn rate_of_river(text: &str) -> Option<f64> {
    let (_, rest) = text.lines().last()?.split_once("overall job/sec [")?;
    rest.split(']').next()?.trim().parse().ok()
}

impl Graphile {
    /// Installs it if it is not there.
    pub fn install() -> Result<Self> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("node");
        let directory = directory()?.join("node");
        std::fs::create_dir_all(&directory)?;
        let wanted = std::fs::read(source.join("package.json"))?;
        let installed = directory.join("installed.json");
        if std::fs::read(&installed).ok().as_ref() != Some(&wanted) {
            std::fs::write(directory.join("package.json"), &wanted)?;
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel", "error"]).current_dir(&directory);
            checked(
                &mut npm,
                "graphile-worker needs Node 20 and comes from the npm registry; without them, leave out the scenario `postgres`.",
            )?;
            std::fs::write(&installed, &wanted)?;
        }
        // Beside node_modules: that is where Node looks for what it imports.
        std::fs::copy(source.join("graphile.js"), directory.join("graphile.js"))?;
        Ok(Self { directory })
    }

    /// Jobs per second, and what ran.
    pub fn run(&self, database: &Database, how: How, load: Load) -> Result<Line> {
        let mut command = Command::new("node");
        command.current_dir(&self.directory).args(["graphile.js", "--url", database.url(), "--how"]);
        command.arg(match how {
            How::Tuned => "tuned",
            How::Defaults => "defaults",
        });
        match load {
            Load::BurnDown(jobs) => command.args(["--jobs", &jobs.to_string()]),
            Load::Producers { backlog, seconds } => {
                command.args(["--backlog", &backlog.to_string(), "--seconds", &seconds.to_string()])
            }
        };
        let output = checked(&mut command, "")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let last = text.lines().last().unwrap_or_default();
        serde_json::from_str(last).map_err(|error| format!("graphile.js: {error}: {last}").into())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_rate_in_the_last_line_of_river() {
        let text = "bench: jobs worked [ 1 ]\nbench: total jobs worked [ 100000 ], overall job/sec [    11706.6 ], p95 [ n/a ]";
        assert_eq!(super::rate_of_river(text), Some(11706.6));
        assert_eq!(super::rate_of_river("error"), None);
    }
}
