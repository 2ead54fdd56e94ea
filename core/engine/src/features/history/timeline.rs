//! The events of a job's history, the oldest first, from what is known of the job (extensions section 23).
use ojs_model::envelope::signature;
use ojs_model::json::{compact_len, member, object, string};
use ojs_model::{JobState, Timestamp};
use serde_json::{Map, Value, json};

use super::attempts::{Attempt, Ended, Failed};
use crate::features::errors::records::fingerprint;
use crate::kernel::job::{JobRow, JobView, flag};

/// Who has caused an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Actor {
    /// A program with this key, if it has one.
    Client(Option<String>),
    /// A worker with this id, if it is known.
    Worker(Option<String>),
    /// The server.
    System,
}

impl Actor {
    pub(super) fn to_value(&self) -> Value {
        let id = match self {
            Self::Client(id) | Self::Worker(id) => id.as_deref(),
            Self::System => None,
        };
        json!({"type": self.kind(), "id": id})
    }

    /// The word on the wire.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Client(_) => "client",
            Self::Worker(_) => "worker",
            Self::System => "system",
        }
    }
}

/// One event of a history.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HistoryEvent {
    /// When it happened, milliseconds since the epoch.
    pub(super) at: i64,
    /// Its place among the events of the same millisecond, from 0 on.
    pub(super) place: usize,
    /// Its type.
    pub(super) name: &'static str,
    /// Who has caused it.
    pub(super) actor: Actor,
    /// What it says.
    pub(super) data: Value,
}

/// What the event log says of the end of a cancelled job, while it has it.
#[derive(Debug, Clone, Default)]
pub(super) struct Cancellation {
    /// The state before.
    pub(super) from: Option<JobState>,
    /// Why.
    pub(super) reason: Option<String>,
}

/// The events of a job, the oldest first.
pub(super) fn timeline(view: &JobView, attempts: &[Attempt], cancelled: &Cancellation) -> Vec<HistoryEvent> {
    let row = &view.row;
    let mut line = Timeline { events: Vec::new(), state: None };
    line.created(view);
    line.to(row.created_at, first_state(view, attempts));
    for (index, attempt) in attempts.iter().enumerate() {
        line.attempt(row, attempt, attempts.get(index + 1));
    }
    line.end(row, attempts, cancelled);
    line.events
}

/// The state in which a job was stored. Its row keeps no word of it, and its times tell.
fn first_state(view: &JobView, attempts: &[Attempt]) -> JobState {
    let row = &view.row;
    let available = match attempts.first() {
        None => row.enqueued_at,
        Some(first) if first.number == 1 && first.available_at > 0 => first.available_at,
        // The first attempt was given back, or is no longer kept: the request tells.
        Some(_) if view.body.text.contains("\"scheduled_at\":") => 0,
        Some(_) => row.created_at,
    };
    match row.state {
        JobState::Pending if attempts.is_empty() => JobState::Pending,
        _ if row.activated_at > 0 => JobState::Pending,
        _ if available == row.created_at => JobState::Available,
        _ if row.has(flag::TRAIN) => JobState::Pending,
        _ => JobState::Scheduled,
    }
}

struct Timeline {
    events: Vec<HistoryEvent>,
    state: Option<JobState>,
}

impl Timeline {
    fn push(&mut self, at: i64, name: &'static str, actor: Actor, data: Value) {
        let place = self.events.last().filter(|last| last.at == at).map_or(0, |last| last.place + 1);
        self.events.push(HistoryEvent { at, place, name, actor, data });
    }

    /// The job has another state from this time on.
    fn to(&mut self, at: i64, state: JobState) {
        if self.state == Some(state) {
            return;
        }
        // An estimated time is moved behind the last exact one.
        let at = self.events.last().map_or(at, |last| last.at.max(at));
        let data = json!({"from": self.state.map(JobState::as_str), "to": state.as_str()});
        self.push(at, "job.state_changed", Actor::System, data);
        self.state = Some(state);
    }

    fn created(&mut self, view: &JobView) {
        let envelope = object(&view.body.text);
        let data = json!({
            "queue": &*view.queue, "type": member(&envelope, "type").and_then(string),
            "args_size_bytes": member(&envelope, "args").map(compact_len),
        });
        let key = signature(&envelope).map(|(key, _)| key);
        self.push(view.row.created_at, "job.created", Actor::Client(key), data);
    }

    fn attempt(&mut self, row: &JobRow, attempt: &Attempt, next: Option<&Attempt>) {
        if attempt.started_at > 0 {
            self.to(if attempt.available_at > 0 { attempt.available_at } else { attempt.started_at }, JobState::Available);
            self.to(attempt.started_at, JobState::Active);
            let data = json!({"worker_id": attempt.worker, "attempt": attempt.number});
            self.push(attempt.started_at, "job.attempt_started", Actor::Worker(attempt.worker.clone()), data);
        }
        match (&attempt.error, attempt.ended) {
            (Some(error), _) => self.failed(row, attempt, error, next),
            (None, Ended::Completed) => {
                let mut data = Map::from_iter([("attempt".to_owned(), json!(attempt.number))]);
                add_times(&mut data, attempt);
                let worker = Actor::Worker(attempt.worker.clone());
                self.push(attempt.ended_at, "job.attempt_completed", worker, data.into());
                self.to(attempt.ended_at, JobState::Completed);
            }
            (None, _) => {}
        }
    }

    fn failed(&mut self, row: &JobRow, attempt: &Attempt, error: &Failed, next: Option<&Attempt>) {
        let replayed = match next {
            Some(next) => next.number <= attempt.number,
            // A replay counts from 0 again.
            None => row.attempt < attempt.number,
        };
        let will_retry = !replayed && (next.is_some() || !row.state.is_terminal());
        let mut data = Map::from_iter([
            ("attempt".to_owned(), json!(attempt.number)),
            ("error".to_owned(), brief(error)),
            ("fingerprint".to_owned(), json!(fingerprint(&error.kind, &error.message))),
            ("will_retry".to_owned(), json!(will_retry)),
        ]);
        add_times(&mut data, attempt);
        self.push(attempt.ended_at, "job.attempt_failed", Actor::Worker(attempt.worker.clone()), data.into());
        let available = next.map_or(row.enqueued_at, |next| next.available_at);
        if replayed {
            self.discarded(attempt.ended_at, attempt.number, Some(error));
        } else if will_retry && available != attempt.ended_at {
            self.to(attempt.ended_at, JobState::Retryable);
        }
    }

    fn discarded(&mut self, at: i64, attempts: u32, error: Option<&Failed>) {
        self.to(at, JobState::Discarded);
        let data = json!({"total_attempts": attempts, "last_error": error.map(brief)});
        self.push(at, "job.discarded", Actor::System, data);
    }

    fn end(&mut self, row: &JobRow, attempts: &[Attempt], cancelled: &Cancellation) {
        match row.state {
            JobState::Discarded => {
                let last = attempts.last().and_then(|last| last.error.as_ref());
                self.discarded(row.finished_at, row.attempt, last);
            }
            JobState::Cancelled => {
                if let Some(from) = cancelled.from {
                    self.to(row.enqueued_at.max(row.activated_at), from);
                }
                self.to(row.finished_at, JobState::Cancelled);
                let mut data = Map::new();
                if let Some(reason) = &cancelled.reason {
                    data.insert("reason".to_owned(), json!(reason));
                }
                self.push(row.finished_at, "job.cancelled", Actor::Client(None), data.into());
            }
            state => self.to(row.enqueued_at.max(row.activated_at), state),
        }
    }
}

fn add_times(data: &mut Map<String, Value>, attempt: &Attempt) {
    if attempt.started_at > 0 {
        data.insert("duration_ms".to_owned(), json!(attempt.ended_at.saturating_sub(attempt.started_at)));
    }
}

/// An error as events carry it.
pub(super) fn brief(error: &Failed) -> Value {
    json!({"code": error.code, "type": error.kind, "message": error.message, "retryable": error.retryable})
}

/// An attempt as the answer has it.
pub(super) fn attempt_value(attempt: &Attempt) -> Value {
    let time = |at: i64| (at > 0).then(|| Timestamp::from_millis(at).to_string());
    let span = |from: i64, to: i64| (from > 0 && to > 0).then(|| to.saturating_sub(from));
    json!({
        "attempt": attempt.number,
        "state": attempt.ended.as_str(),
        "worker_id": attempt.worker,
        "available_at": time(attempt.available_at),
        "started_at": time(attempt.started_at),
        "ended_at": time(attempt.ended_at),
        "wait_ms": span(attempt.available_at, attempt.started_at),
        "duration_ms": span(attempt.started_at, attempt.ended_at),
        "error": attempt.error.as_ref().map(brief),
        "fingerprint": attempt.error.as_ref().map(|error| fingerprint(&error.kind, &error.message)),
    })
}
