//! `ojs stats`: the whole in figures.
use clap::Args;
use serde_json::Value;

use crate::failure::Failure;
use crate::output::{items, pairs, rows, text};
use crate::remote::{Remote, segment};
use crate::when::when;

const EXAMPLES: &str = "\
Examples:
  ojs stats                              now
  ojs stats --history 5m                 the last six hours in steps of five minutes
  ojs stats --history 1h --queue mail
  ojs stats --types                      job types in the last hour, the busiest first
  ojs stats --types --sort failed --since 2026-01-31T00:00:00Z";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Stats {
    /// Over time, in steps of 1m, 5m, 1h or 1d.
    #[arg(long, value_name = "PERIOD")]
    history: Option<String>,
    /// Only this queue (with --history).
    #[arg(long, requires = "history")]
    queue: Option<String>,
    /// Each job type over the last hour.
    #[arg(long, conflicts_with = "history")]
    types: bool,
    /// From this time on (with --types): 2026-01-31T00:00:00Z, or how long ago, such as 2h.
    #[arg(long, value_name = "TIME", requires = "types", value_parser = when)]
    since: Option<String>,
    /// What the list is sorted by (with --types), the largest first: enqueued, processed, failed, discarded, busy,
    /// latency or wait.
    #[arg(long, default_value = "busy", requires = "types")]
    sort: String,
}

/// Shows the figures.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(stats: Stats, remote: Remote) -> Result<(), Failure> {
    if stats.types {
        return types(&remote, &stats).await;
    }
    let Some(period) = stats.history else { return now(&remote).await };
    let mut path = format!("/admin/stats/history?period={}", segment(&period));
    if let Some(queue) = &stats.queue {
        path.push_str(&format!("&queue={}", segment(queue)));
    }
    let answer = remote.get(path).await?;
    remote.output.show(&answer, |value| {
        let line = |point: &Value| {
            let columns = ["/timestamp", "/enqueued", "/processed", "/failed", "/discarded"].map(|path| text(point, path));
            columns.into_iter().chain(["/latency_ms/p50", "/latency_ms/p99"].map(|path| millis(point, path))).collect()
        };
        rows(&["from", "enqueued", "processed", "failed", "discarded", "p50", "p99"], items(value, "/items").iter().map(line))
    })
}

/// Prints the types in the order that `--sort` names.
async fn types(remote: &Remote, stats: &Stats) -> Result<(), Failure> {
    let mut path = format!("/admin/stats/types?sort={}&limit=200", segment(&stats.sort));
    if let Some(since) = &stats.since {
        path.push_str(&format!("&since={}", segment(since)));
    }
    let answer = remote.get(path).await?;
    remote.output.show(&answer, |value| {
        let line = |item: &Value| {
            let columns = ["/type", "/enqueued", "/processed", "/failed", "/discarded"].map(|path| text(item, path));
            let times = ["/busy_ms", "/latency_ms/p50", "/latency_ms/p99", "/wait_ms/p99"].map(|path| millis(item, path));
            columns.into_iter().chain(times).collect()
        };
        let heading = ["type", "enqueued", "processed", "failed", "discarded", "busy", "run p50", "run p99", "wait p99"];
        rows(&heading, items(value, "/items").iter().map(line))
    })
}

async fn now(remote: &Remote) -> Result<(), Failure> {
    let answer = remote.get("/admin/stats").await?;
    remote.output.show(&answer, |value| {
        pairs([
            ("queues", text(value, "/queues")),
            ("workers", text(value, "/workers")),
            ("available", text(value, "/jobs/available")),
            ("active", text(value, "/jobs/active")),
            ("scheduled", text(value, "/jobs/scheduled")),
            ("retryable", text(value, "/jobs/retryable")),
            ("completed", text(value, "/jobs/completed")),
            ("discarded", text(value, "/jobs/discarded")),
            ("dead letters", text(value, "/dead_letters")),
            ("enqueued/min", text(value, "/throughput/enqueued_per_minute")),
            ("processed/min", text(value, "/throughput/processed_per_minute")),
            ("failed/min", text(value, "/throughput/failed_per_minute")),
            ("run time p50", millis(value, "/latency_ms/p50")),
            ("run time p99", millis(value, "/latency_ms/p99")),
            ("wait p50", millis(value, "/wait_ms/p50")),
            ("wait p99", millis(value, "/wait_ms/p99")),
        ])
    })
}

/// `12.0` → `12 ms`
fn millis(value: &Value, path: &str) -> String {
    value.pointer(path).and_then(Value::as_f64).map(|ms| format!("{ms:.0} ms")).unwrap_or_default()
}
