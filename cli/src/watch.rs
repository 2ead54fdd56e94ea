//! `--watch`: a command that only reads, again and again.
use std::future::Future;
use std::io::IsTerminal;
use std::time::Duration;

use clap::ArgMatches;

use crate::failure::Failure;
use crate::output::write;

/// Last words of commands that change nothing.
const READING: &[&str] = &[
    "list",
    "get",
    "show",
    "why",
    "stats",
    "status",
    "health",
    "doctor",
    "parked",
    "deliveries",
    "delivery",
    "history",
    "manifest",
];

/// Runs the command line every `period` seconds, until a signal or a failure.
///
/// # Errors
/// A command that changes something; what the command itself says.
pub async fn repeat<F: Future<Output = Result<(), Failure>>>(
    period: u64,
    matches: &ArgMatches,
    run: impl Fn() -> F,
) -> Result<(), Failure> {
    let word = last_word(matches);
    if !only_reads(matches) {
        let advice = "it repeats what only reads: lists, get, show, why, stats, health, doctor";
        return Err(Failure::usage(format!("--watch: `{word}` is not repeated"), advice));
    }
    let mut ticks = tokio::time::interval(Duration::from_secs(period));
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // A terminal shows one answer at a time, in the same place; a pipe gets one after the other.
        if std::io::stdout().is_terminal() && !write(b"\x1b[H\x1b[2J")? {
            return Ok(());
        }
        let done = run().await;
        match done {
            // What the doctor finds, and a server that is away for a moment, are no reason to stop looking.
            Err(failure) if word == "doctor" || failure.is_unreachable() => crate::output::remark(&format!("ojs: {failure}")),
            other => other?,
        }
        if !std::io::stdout().is_terminal() && !write(b"\n")? {
            return Ok(());
        }
    }
}

/// Whether the command changes nothing.
pub fn only_reads(matches: &ArgMatches) -> bool {
    READING.contains(&last_word(matches))
}

fn last_word(matches: &ArgMatches) -> &str {
    let (mut word, mut inner) = ("", matches);
    while let Some((name, next)) = inner.subcommand() {
        (word, inner) = (name, next);
    }
    word
}
