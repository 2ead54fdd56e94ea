//! The machine and the circumstances of a run, printed above every table.
use std::fmt;
use std::path::Path;

use serde::Serialize;

/// What a reader must know to compare a figure with his own.
#[derive(Debug, Clone, Serialize)]
pub struct Conditions {
    cores: usize,
    processor: String,
    kernel: String,
    /// File system below the databases.
    file_system: String,
    /// One-minute load average before the run: anything near the number of cores spoils it.
    load_before: f64,
    /// `release` figures only.
    optimised: bool,
    /// Settings of the PostgreSQL of the run.
    pub postgres: Option<String>,
}

impl Conditions {
    /// Reads them from the system.
    pub fn read(dir: &Path) -> Self {
        let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let cpu = text("/proc/cpuinfo");
        let processor = cpu
            .lines()
            .find_map(|line| line.strip_prefix("model name"))
            .map_or("unknown", |rest| rest.trim_start_matches([' ', '\t', ':']));
        Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            processor: processor.to_owned(),
            kernel: text("/proc/sys/kernel/osrelease").trim().to_owned(),
            file_system: file_system(dir, &text("/proc/mounts")),
            load_before: text("/proc/loadavg").split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0.0),
            optimised: !cfg!(debug_assertions),
            postgres: None,
        }
    }
}

/// The type of the file system that holds `dir`: the longest mount point that is a prefix.
fn file_system(dir: &Path, mounts: &str) -> String {
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    mounts
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ').skip(1);
            Some((words.next()?, words.next()?))
        })
        .filter(|(point, _)| dir.starts_with(point))
        .max_by_key(|(point, _)| point.len())
        .map_or_else(|| "unknown".to_owned(), |(_, kind)| kind.to_owned())
}

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} cores ({}), kernel {}, databases on {}, load before the run {:.2}. Load generator, server and workers share the cores.",
            self.cores, self.processor, self.kernel, self.file_system, self.load_before
        )?;
        if !self.optimised {
            writeln!(f, "WARNING: this is a debug build; the figures mean nothing. Use --release.")?;
        }
        if self.file_system == "tmpfs" {
            writeln!(f, "WARNING: the databases live in memory (tmpfs): fsync is free there. Use --dir.")?;
        }
        Ok(())
    }
}
