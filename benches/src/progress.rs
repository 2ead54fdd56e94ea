//! How far a scenario is: a bar on a terminal, elsewhere a line per run.
use std::borrow::Cow;
use std::io::IsTerminal;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

/// Counts the runs of a scenario. Writes to stderr.
pub struct Progress {
    title: String,
    bar: ProgressBar,
    lines: bool,
    started: Instant,
}

impl Progress {
    /// Over `steps` runs.
    pub fn new(title: &str, steps: usize) -> Self {
        let lines = !std::io::stderr().is_terminal();
        let bar = if lines { ProgressBar::hidden() } else { ProgressBar::new(steps as u64) };
        bar.set_length(steps as u64);
        if let Ok(style) = ProgressStyle::with_template("{prefix:28} {bar:30} {pos}/{len} runs  {elapsed}  {msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(title.to_owned());
        bar.tick();
        Self { title: title.to_owned(), bar, lines, started: Instant::now() }
    }

    /// What the next run measures.
    pub fn set_message(&self, message: impl Into<Cow<'static, str>>) {
        self.bar.set_message(message);
    }

    /// So many runs more are done.
    pub fn inc(&self, runs: u64) {
        self.bar.inc(runs);
        if self.lines {
            let message = self.bar.message();
            let what = if message.is_empty() { String::new() } else { format!(", {message}") };
            let (done, all) = (self.bar.position(), self.bar.length().unwrap_or_default());
            eprintln!("{}{what}: {done} of {all} runs, {:.0} s", self.title, self.started.elapsed().as_secs_f64());
        }
    }

    /// Prints in between, without a bar in the text.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// The scenario has ended.
    pub fn finish_and_clear(&self) {
        self.bar.finish_and_clear();
    }
}
