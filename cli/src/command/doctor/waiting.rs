//! Jobs that no worker takes.
use serde_json::Value;

use super::context::{Context, age_ms, live, span};
use super::finding::{Finding, ok, warning};
use crate::failure::Failure;
use crate::list::Entry;
use crate::output::{items, text};
use crate::remote::segment;

/// A job that has been available for longer than this waits too long, also where workers ask for its queue.
const LONG_WAIT_MS: i64 = 600_000;
/// Most queues that are asked one by one.
const ASKED: usize = 200;

/// Queues whose jobs wait: at once when no live worker asks for them, after a while when workers do.
pub async fn look(context: &Context) -> Result<Vec<Finding>, Failure> {
    let workers = context.workers().await?;
    let mut findings = Vec::new();
    let available = |queue: &Value| queue.pointer("/counts/available").and_then(Value::as_i64).unwrap_or(0);
    let waiting = context.queues().await?.iter().map(|entry| &entry.value).filter(|queue| available(queue) > 0);
    for queue in waiting.take(ASKED) {
        let (name, available) = (text(queue, "/name"), available(queue));
        let detail = context.get(format!("/admin/queues/{}", segment(&name))).await?;
        let waited = age_ms(&detail, "/oldest_available_at").unwrap_or(0).max(0);
        let why = if text(queue, "/paused") == "true" {
            (waited >= LONG_WAIT_MS)
                .then(|| (format!("the queue is paused: `ojs queues resume {name}`"), format!("ojs queues resume {name}")))
        } else {
            let command = format!("ojs jobs list --queue {name} --state available --limit 1   # then: ojs jobs why ID");
            match unserved(workers, &name) {
                Some(why) => Some((why, command)),
                None => (waited >= LONG_WAIT_MS).then(|| ("its workers are too few, too slow, or limited".to_owned(), command)),
            }
        };
        if let Some((why, command)) = why {
            let jobs = if available == 1 { "1 job" } else { &format!("{available} jobs") };
            let found = warning(format!("{jobs} of '{name}', the oldest for {}: {why}", span(waited))).cleared_by(command);
            findings.push(found.seen("queue", name).seen("available", available).seen("oldest_ms", waited));
        }
    }
    if findings.is_empty() {
        findings.push(ok("every queue with jobs has workers, and no job has been available for more than 10 minutes"));
    }
    Ok(findings)
}

/// Why no worker takes the jobs of a queue; `None` when a live worker asks for it, or may: not all workers say what they ask for.
fn unserved(workers: &[Entry], queue: &str) -> Option<String> {
    let live = live(workers);
    if live.is_empty() {
        return Some("no live worker is known: start one".to_owned());
    }
    let mut asked: Vec<&str> = Vec::new();
    for worker in live {
        let queues = items(worker, "/queues");
        if queues.is_empty() || queues.iter().any(|name| name == queue) {
            return None;
        }
        asked.extend(queues.iter().filter_map(Value::as_str));
    }
    asked.sort_unstable();
    asked.dedup();
    Some(format!("no live worker asks for this queue, those that run ask for {}", asked.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_queue_is_unserved_when_every_live_worker_names_other_queues() {
        let workers = |list: &[Value]| list.iter().cloned().map(Entry::from).collect::<Vec<_>>();
        let mail = json!({"state": "running", "queues": ["mail"]});
        let silent = json!({"state": "stale", "queues": ["slow"]});
        assert!(unserved(&[], "slow").unwrap().contains("start one"));
        assert!(unserved(&workers(&[mail.clone(), silent]), "slow").unwrap().contains("ask for mail"));
        assert_eq!(unserved(&workers(std::slice::from_ref(&mail)), "mail"), None);
        assert_eq!(unserved(&workers(&[mail, json!({"state": "running", "queues": []})]), "slow"), None, "it may ask for it");
    }
}
