//! Attempts that run for long, and leases that are too short.
use ojs_model::Timestamp;
use serde_json::Value;

use super::{Finding, now_ms, ok, warning};
use crate::failure::Failure;
use crate::list::Entry;
use crate::output::{items, text};
use crate::remote::Remote;

/// An attempt that runs for longer than this is worth a look.
const LONG_RUN_MS: i64 = 3_600_000;

/// Attempts that run for long, and leases that are shorter than handlers usually take.
pub async fn look(remote: &Remote, queues: &[Entry]) -> Result<Vec<Finding>, Failure> {
    let active = remote.get("/admin/jobs?state=active&order=asc&per_page=100").await?.value;
    let p99 = |name: &str| {
        let queue = queues.iter().find(|queue| text(&queue.value, "/name") == name)?;
        queue.value.pointer("/latency_ms/p99").and_then(Value::as_f64)
    };
    let (mut long, mut short) = (Vec::new(), Vec::new());
    for job in items(&active, "/items") {
        let started = Timestamp::parse(&text(job, "/started_at")).map_or(i64::MAX, Timestamp::as_millis);
        if now_ms().saturating_sub(started) > LONG_RUN_MS {
            long.push(text(job, "/id"));
        }
        let lease = job.pointer("/visibility_timeout_ms").and_then(Value::as_f64);
        if let (Some(lease), Some(p99)) = (lease, p99(&text(job, "/queue")))
            && lease < p99
        {
            short.push(format!("{} ({lease:.0} ms, handlers take {p99:.0} ms)", text(job, "/type")));
        }
    }
    short.sort_unstable();
    short.dedup();
    Ok(vec![
        if long.is_empty() {
            ok("running", "no attempt runs for more than an hour")
        } else {
            warning("running", format!("{} attempts run for more than an hour: {}", long.len(), long.join(", ")))
        },
        if short.is_empty() {
            ok("leases", "longer than handlers take")
        } else {
            warning("leases", format!("shorter than handlers take, jobs may run twice: {}", short.join(", ")))
        },
    ])
}
