//! The scenarios, and what they share.
pub mod batch;
pub mod cycle;
pub mod dashboard;
pub mod depth;
pub mod echo;
pub mod enqueue;
pub mod fair;
pub mod footprint;
pub mod latency;
pub mod parse;
pub mod postgres;
pub mod push;
pub mod python;
pub mod relay;
pub mod rust;
pub mod trains;

use std::path::PathBuf;
use std::time::Duration;

use crate::Result;
use crate::progress::Progress;

/// What the command line decided.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The `ojs` binary.
    pub bin: PathBuf,
    /// Below it every server gets its own directory.
    pub dir: PathBuf,
    /// Runs per figure.
    pub runs: usize,
    /// Length of a throughput run.
    pub time: Duration,
}

/// Before each measured run: fills caches and lets the database reach its working size.
pub const WARM_UP: Duration = Duration::from_millis(300);

impl Plan {
    /// Fills in the defaults.
    pub fn new(bin: Option<PathBuf>, dir: Option<PathBuf>, runs: usize, seconds: f64) -> Result<Self> {
        let bin = match bin {
            Some(bin) => bin,
            None => std::env::current_exe()?.with_file_name("ojs"),
        };
        let dir = dir.unwrap_or_else(std::env::temp_dir);
        std::fs::create_dir_all(&dir)?;
        Ok(Self { bin, dir, runs, time: Duration::from_secs_f64(seconds.max(0.1)) })
    }

    /// Progress over `steps` runs.
    pub fn progress(&self, title: &str, steps: usize) -> Progress {
        Progress::new(title, steps)
    }
}
