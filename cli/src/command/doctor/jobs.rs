//! Attempts that run for long, and leases that are too short.
use serde_json::Value;

use super::context::{Context, age_ms, span};
use super::finding::{Finding, ok, warning};
use crate::failure::Failure;
use crate::list::Entry;
use crate::output::text;

/// An attempt that runs for longer than this is worth a look.
const LONG_RUN_MS: i64 = 3_600_000;
/// A job that is handed back so often ends its workers, or is never meant to run.
const MANY_ATTEMPTS: u64 = 20;

fn p99(queues: &[Entry], name: &str) -> Option<f64> {
    let queue = queues.iter().find(|queue| text(&queue.value, "/name") == name)?;
    queue.value.pointer("/latency_ms/p99").and_then(Value::as_f64)
}

/// Leases that are shorter than handlers usually take.
pub async fn short_leases(context: &Context) -> Result<Vec<Finding>, Failure> {
    let queues = context.queues().await?;
    let mut short = Vec::new();
    for job in context.active().await?.iter().map(|entry| &entry.value) {
        let lease = job.pointer("/visibility_timeout_ms").and_then(Value::as_f64);
        if let (Some(lease), Some(p99)) = (lease, p99(queues, &text(job, "/queue")))
            && lease < p99
        {
            short.push(format!("{} ({lease:.0} ms, handlers take {p99:.0} ms)", text(job, "/type")));
        }
    }
    short.sort_unstable();
    short.dedup();
    Ok(vec![if short.is_empty() {
        ok("longer than handlers take")
    } else {
        let said = format!("shorter than handlers take, jobs may run twice: {}", short.join(", "));
        warning(said)
            .seen("types", short)
            .cleared_by("ojs jobs list --state active   # then raise visibility_timeout_ms, or send heartbeats")
    }])
}

/// Attempts that run for long, and jobs that begin again and again.
pub async fn stuck(context: &Context) -> Result<Vec<Finding>, Failure> {
    let mut found = Vec::new();
    let mut long: Vec<(String, i64)> = Vec::new();
    for job in context.active().await?.iter().map(|entry| &entry.value) {
        let ran = age_ms(job, "/started_at").unwrap_or(0);
        if ran > LONG_RUN_MS {
            long.push((text(job, "/id"), ran));
        }
    }
    for job in context.active().await?.iter().chain(context.available().await?).map(|entry| &entry.value) {
        let begun = job.pointer("/attempt").and_then(Value::as_u64).unwrap_or(0);
        if begun >= MANY_ATTEMPTS {
            let id = text(job, "/id");
            let said =
                format!("job {id} ({}) has begun {begun} times and not ended: does it end its workers?", text(job, "/type"));
            found
                .push(warning(said).seen("job", id.as_str()).seen("attempts", begun).cleared_by(format!("ojs jobs cancel {id}")));
        }
    }
    if let Some((first, longest)) = long.iter().max_by_key(|(_, ran)| *ran) {
        let ids: Vec<&str> = long.iter().map(|(id, _)| id.as_str()).collect();
        let said =
            format!("{} attempts run for more than an hour, the longest for {}: {}", ids.len(), span(*longest), ids.join(", "));
        found.push(warning(said).seen("jobs", ids).cleared_by(format!("ojs jobs why {first}")));
    }
    if found.is_empty() {
        found.push(ok("no attempt runs for more than an hour"));
    }
    Ok(found)
}
