//! How histories are printed.
use ojs_model::{JobId, Timestamp};
use serde_json::{Value, json};

use super::attempts::{Attempt, Ended};
use super::timeline::{HistoryEvent, attempt_value};

/// What happened to a job.
#[derive(Debug)]
pub struct History {
    pub(super) job: JobId,
    pub(super) events: Vec<HistoryEvent>,
    pub(super) attempts: Vec<Attempt>,
    pub(super) releases: u32,
}

/// Behind which event a page begins: its time and its place among those of the same millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cursor(i64, usize);

impl Cursor {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (at, place) = text.split_once('.')?;
        Some(Self(at.parse().ok()?, place.parse().ok()?))
    }

    fn of(event: &HistoryEvent) -> Self {
        Self(event.at, event.place)
    }

    fn text(self) -> String {
        format!("{}.{}", self.0, self.1)
    }
}

impl History {
    /// How many events there are.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    /// Without what happened before a time, and without all but the newest events.
    pub(super) fn without(mut self, since: i64, most: usize) -> Self {
        self.events.retain(|event| event.at >= since);
        let surplus = self.events.len().saturating_sub(most);
        self.events.drain(..surplus);
        // An attempt that has not ended is going on, or was given back: then nothing says when.
        self.attempts.retain(|attempt| match attempt.ended {
            Ended::Not => true,
            Ended::Released => attempt.started_at >= since,
            _ => attempt.ended_at >= since,
        });
        self
    }

    /// A page of events behind a cursor, and all attempts.
    pub(super) fn page(&self, after: Option<Cursor>, limit: usize) -> String {
        let begin = self.events.partition_point(|event| after.is_some_and(|after| Cursor::of(event) <= after));
        let rest = self.events.get(begin..).unwrap_or_default();
        let page = rest.get(..limit).unwrap_or(rest);
        let next = if rest.len() > limit { page.last().map(|event| Cursor::of(event).text()) } else { None };
        json!({
            "job_id": self.job.to_string(),
            "events": page.iter().map(|event| self.event(event)).collect::<Vec<_>>(),
            "next_cursor": next,
            "total": self.events.len(),
            "attempts": self.attempts.iter().map(attempt_value).collect::<Vec<_>>(),
            "releases": self.releases,
        })
        .to_string()
    }

    fn event(&self, event: &HistoryEvent) -> Value {
        json!({
            "id": format!("his_{}.{}", self.job, Cursor::of(event).text()),
            "job_id": self.job.to_string(),
            "event_type": event.name,
            "timestamp": Timestamp::from_millis(event.at).to_string(),
            "actor": event.actor.to_value(),
            "data": event.data,
            "metadata": {},
        })
    }
}
