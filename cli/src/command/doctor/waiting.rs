//! Jobs that no worker takes.
use ojs_model::Timestamp;
use serde_json::Value;

use super::{Finding, now_ms, ok, warning};
use crate::failure::Failure;
use crate::list::Entry;
use crate::output::{items, text};
use crate::remote::{Remote, segment};

/// A job that has been available for longer than this waits too long, also where workers ask for its queue.
const LONG_WAIT_MS: i64 = 600_000;

/// Queues whose jobs wait: at once when no live worker asks for them, after a while when workers do.
pub async fn look(remote: &Remote, queues: &[Entry], workers: &[Entry]) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    for queue in queues.iter().map(|entry| &entry.value) {
        let name = text(queue, "/name");
        let available = queue.pointer("/counts/available").and_then(Value::as_i64).unwrap_or(0);
        if available == 0 {
            continue;
        }
        let detail = remote.get(format!("/admin/queues/{}", segment(&name))).await?.value;
        let oldest = Timestamp::parse(&text(&detail, "/oldest_available_at")).map_or(0, Timestamp::as_millis);
        let waited = if oldest == 0 { 0 } else { now_ms().saturating_sub(oldest).max(0) };
        let why = if text(queue, "/paused") == "true" {
            (waited >= LONG_WAIT_MS).then(|| format!("the queue is paused: `ojs queues resume {name}`"))
        } else {
            match unserved(workers, &name) {
                Some(why) => Some(why),
                None => (waited >= LONG_WAIT_MS).then(|| "its workers are too few, too slow, or limited".to_owned()),
            }
        };
        if let Some(why) = why {
            let jobs = if available == 1 { "1 job" } else { &format!("{available} jobs") };
            findings.push(warning("waiting", format!("{jobs} of '{name}', the oldest for {}: {why}", span(waited))));
        }
    }
    if findings.is_empty() {
        findings.push(ok("waiting", "every queue with jobs has workers, and no job has been available for more than 10 minutes"));
    }
    Ok(findings)
}

/// Why no worker takes the jobs of a queue; `None` when a live worker asks for it, or may: not all workers say what they ask for.
fn unserved(workers: &[Entry], queue: &str) -> Option<String> {
    let live: Vec<&Value> =
        workers.iter().map(|entry| &entry.value).filter(|worker| text(worker, "/state") == "running").collect();
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

/// `90_000` → `1 min`
fn span(ms: i64) -> String {
    if ms < 60_000 { format!("{} s", ms / 1_000) } else { format!("{} min", ms / 60_000) }
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
