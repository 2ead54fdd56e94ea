//! A server process: started for a run, asked for its memory and CPU time, ended with the run.
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Result;

/// Where the jobs are kept, and what a confirmed enqueue is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    /// SQLite file, fsync before the answer.
    Durable,
    /// Memory.
    Memory,
}

impl Store {
    /// The URL of a store in a directory.
    fn url(self, dir: &Path) -> String {
        match self {
            Self::Durable => format!("sqlite:{}", dir.join("jobs.db").display()),
            Self::Memory => "memory:".to_owned(),
        }
    }

    /// As printed beside the figures.
    pub fn label(self) -> &'static str {
        match self {
            Self::Durable => "SQLite, fsync before the answer",
            Self::Memory => "memory, nothing durable",
        }
    }
}

/// A running server with its directory.
pub struct Server {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
    started: Instant,
    _dir: tempfile::TempDir,
}

impl Server {
    /// Starts `ojs server` with a store of its own on a free port, and waits until it listens.
    pub fn start(bin: &Path, base: &Path, store: Store) -> Result<Self> {
        Self::with(bin, base, store, &[])
    }

    /// The same, with further arguments.
    pub fn with(bin: &Path, base: &Path, store: Store, arguments: &[&str]) -> Result<Self> {
        let dir = Self::directory(base)?;
        let mut command = Self::command(bin, &store.url(dir.path()));
        command.args(arguments);
        Self::spawn(command, dir)
    }

    /// The same, on a store that lives elsewhere.
    pub fn on(bin: &Path, base: &Path, url: &str) -> Result<Self> {
        Self::spawn(Self::command(bin, url), Self::directory(base)?)
    }

    fn directory(base: &Path) -> Result<tempfile::TempDir> {
        Ok(tempfile::Builder::new().prefix("ojs-bench-").tempdir_in(base)?)
    }

    fn command(bin: &Path, url: &str) -> Command {
        let mut command = Command::new(bin);
        command.args(["server", "--listen", "127.0.0.1:0", "--store", url]);
        command
    }

    /// Starts the ceiling: this program as an echo server.
    pub fn echo(base: &Path) -> Result<Self> {
        let dir = tempfile::tempdir_in(base)?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("echo");
        Self::spawn(command, dir)
    }

    fn spawn(mut command: Command, dir: tempfile::TempDir) -> Result<Self> {
        let started = Instant::now();
        // The log goes to a file: on a terminal it would compete with the progress bar.
        let log = std::fs::File::create(dir.path().join("server.log"))?;
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn().map_err(|e| {
            format!("cannot start {}: {e}. Build it first: cargo build --release -p ojs-cli", command.get_program().display())
        })?;
        let mut lines = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let mut line = String::new();
        lines.read_line(&mut line)?;
        let Some(address) = line.trim().strip_prefix("listening on http://").and_then(|a| a.parse().ok()) else {
            let _ = child.kill();
            let log = std::fs::read_to_string(dir.path().join("server.log")).unwrap_or_default();
            return Err(format!("the server did not say where it listens: '{}'\n{log}", line.trim()).into());
        };
        // Whatever else it prints must not fill the pipe.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Ok(Self { child, address, started, _dir: dir })
    }

    /// When the process was started.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Resident memory in bytes.
    pub fn resident(&self) -> Result<u64> {
        let status = std::fs::read_to_string(self.proc("status"))?;
        let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
    }

    /// CPU time used so far, user and system, to the nanosecond: the sum over the threads.
    pub fn cpu(&self) -> Result<Duration> {
        let mut total = Duration::ZERO;
        for thread in std::fs::read_dir(self.proc("task"))? {
            // A thread may end while we look.
            let Ok(text) = std::fs::read_to_string(thread?.path().join("schedstat")) else { continue };
            let nanos = text.split(' ').next().and_then(|n| n.parse().ok()).ok_or("odd schedstat")?;
            total += Duration::from_nanos(nanos);
        }
        Ok(total)
    }

    fn proc(&self, file: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{file}", self.child.id()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
