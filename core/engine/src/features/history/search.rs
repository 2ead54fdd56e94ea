//! The history of all jobs, from the event log: the newest first (extensions section 23).
use ojs_model::JobState;
use serde_json::{Map, Value, json};

use super::timeline::Actor;
use crate::kernel::event::Event;

/// What is looked for, beside queues and job types.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Types of events; empty is all.
    pub(super) types: Vec<String>,
    /// `worker`, `client` or `system`.
    pub(super) actor: Option<String>,
    /// Not before this time, milliseconds since the epoch.
    pub(super) start: i64,
    /// Before this time.
    pub(super) end: i64,
}

/// One event of a history, as a search finds it.
#[derive(Debug)]
struct Found {
    name: &'static str,
    actor: Actor,
    data: Value,
}

impl Wanted {
    fn takes(&self, found: &Found) -> bool {
        let of_actor = |wanted: &String| found.actor.kind() == wanted;
        (self.types.is_empty() || self.types.iter().any(|name| name == found.name)) && self.actor.as_ref().is_none_or(of_actor)
    }

    /// The events of a history that one event of the log stands for, the newest first, as they are answered.
    pub(super) fn entries(&self, event: &Event) -> Vec<Value> {
        let at = event.at.as_millis();
        if event.origin.is_none() || !(self.start..self.end).contains(&at) {
            return Vec::new();
        }
        let found = told(event).into_iter().enumerate().filter(|(_, found)| self.takes(found));
        let entry = |(place, found): (usize, Found)| {
            json!({
                "id": format!("his_{}.{place}", event.place.cursor()),
                "job_id": event.subject,
                "event_type": found.name,
                "timestamp": event.at.to_string(),
                "actor": found.actor.to_value(),
                "data": found.data,
                "metadata": {},
            })
        };
        let mut entries: Vec<Value> = found.map(entry).collect();
        entries.reverse();
        entries
    }
}

/// What an event of the log says in the words of a history, in order.
fn told(event: &Event) -> Vec<Found> {
    let data: Map<String, Value> = serde_json::from_str(&event.data).unwrap_or_default();
    let members = |names: &[&str]| {
        let known = names.iter().filter_map(|name| Some(((*name).to_owned(), data.get(*name)?.clone())));
        Value::Object(known.collect())
    };
    let worker = || Actor::Worker(data.get("worker_id").and_then(Value::as_str).map(str::to_owned));
    let mut all = Vec::new();
    if let Some(change) = event.change {
        if change.from.is_none() {
            let queue = json!({"queue": data.get("queue"), "type": data.get("job_type")});
            all.push(Found { name: "job.created", actor: Actor::Client(None), data: queue });
        }
        let data = json!({"from": change.from.map(JobState::as_str), "to": change.to.as_str()});
        all.push(Found { name: "job.state_changed", actor: Actor::System, data });
    }
    let own = match event.name.as_str() {
        "job.started" => Some(("job.attempt_started", worker(), members(&["worker_id", "attempt"]))),
        "job.completed" => Some(("job.attempt_completed", worker(), members(&["attempt", "duration_ms"]))),
        "job.failed" => Some(("job.attempt_failed", worker(), members(&["attempt", "duration_ms", "error"]))),
        "job.cancelled" => Some(("job.cancelled", Actor::Client(None), members(&["reason"]))),
        "job.discarded" => Some(("job.discarded", Actor::System, members(&["total_attempts", "last_error"]))),
        _ => None,
    };
    all.extend(own.map(|(name, actor, data)| Found { name, actor, data }));
    all
}
