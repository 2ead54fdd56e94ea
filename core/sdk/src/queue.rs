//! Queues as a server describes them.
use serde_json::Value;

use crate::error::Error;

/// A queue.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Queue {
    /// Its name.
    pub name: String,
    /// `active`, `paused`, `draining`.
    pub status: String,
}

/// How many jobs of a queue are in which state. Zero for what the server does not tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct QueueStats {
    /// The queue.
    pub queue: String,
    /// Whether jobs are held back.
    pub paused: bool,
    /// Ready to be fetched.
    pub available: u64,
    /// With workers.
    pub active: u64,
    /// Waiting for their time.
    pub scheduled: u64,
    /// Staged.
    pub pending: u64,
    /// Waiting to be tried again.
    pub retryable: u64,
    /// Done.
    pub completed: u64,
    /// Cancelled.
    pub cancelled: u64,
    /// Failed for good.
    pub discarded: u64,
}

/// A slice of a long list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Page {
    /// Most entries; the server's default when `None`.
    pub limit: Option<u32>,
    /// Entries to skip.
    pub offset: Option<u32>,
}

impl Queue {
    pub(crate) fn list(answer: &Value) -> Result<Vec<Self>, Error> {
        let queues = match answer.get("queues") {
            Some(Value::Array(queues)) => queues.as_slice(),
            // Some servers write an empty list as null.
            Some(Value::Null) => &[],
            _ => return Err(Error::json("answer", "it has no queues")),
        };
        let text = |queue: &Value, name: &str| queue.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        // Some servers list names only.
        let read = |queue: &Value| match queue {
            Value::String(name) => Self { name: name.clone(), status: String::new() },
            queue => Self { name: text(queue, "name"), status: text(queue, "status") },
        };
        Ok(queues.iter().map(read).collect())
    }
}

impl QueueStats {
    /// Servers use three forms: counts in `queue`, in `stats`, or `stats.depth` (dialects 0.1). The first one with
    /// counts is read.
    pub(crate) fn read(queue: &str, answer: &Value) -> Self {
        let places = [answer.get("queue"), answer.get("stats"), Some(answer)];
        let find = |name: &str| places.into_iter().flatten().find_map(|place| place.get(name));
        let count = |name: &str| find(name).and_then(Value::as_u64);
        let status = find("status").and_then(Value::as_str);
        Self {
            queue: queue.to_owned(),
            paused: find("paused").and_then(Value::as_bool).unwrap_or(status == Some("paused")),
            available: count("available").or_else(|| count("depth")).unwrap_or_default(),
            active: count("active").unwrap_or_default(),
            scheduled: count("scheduled").unwrap_or_default(),
            pending: count("pending").unwrap_or_default(),
            retryable: count("retryable").unwrap_or_default(),
            completed: count("completed").unwrap_or_default(),
            cancelled: count("cancelled").unwrap_or_default(),
            discarded: count("discarded").unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_three_forms_of_statistics_are_read() {
        for (answer, available, paused) in [
            (json!({"queue": {"name": "q", "available": 3, "paused": true}}), 3, true),
            (json!({"queue": "q", "status": "paused", "stats": {"available": 3}}), 3, true),
            (json!({"stats": {"queue": "q", "depth": 3}}), 3, false),
        ] {
            let stats = QueueStats::read("q", &answer);
            assert_eq!((stats.queue.as_str(), stats.available, stats.paused), ("q", available, paused), "{answer}");
        }
    }
}
