//! How the log's events are put into frames: of server-sent events, and of a WebSocket (extensions section 3).
use std::fmt::Write;
use std::sync::Arc;

use bytes::Bytes;
use ojs_model::json::{push_bare, push_member, push_text, push_time};
use ojs_model::{JobState, Timestamp};
use serde_json::{Value, json};

use crate::features::cloudevents::answer::CloudEvent;
use crate::kernel::event::{Event, EventFilter, Place, time_of};
use crate::stream::Dropped;

/// The event that reports every transition.
const STATE_CHANGED: &str = "job.state_changed";
/// The event that says that the server stops.
pub const SHUTDOWN: &str = "server.shutdown";

/// What a frame carries.
#[derive(Debug, Clone)]
pub enum Shape {
    /// As the log has it: the whole envelope.
    Envelope,
    /// As CloudEvents of a deployment with this URI.
    CloudEvents(Arc<str>),
    /// As channels have it: a `job.state_changed` for every transition, and each event's own data. The filter knows which types.
    Channel(EventFilter),
}

impl Shape {
    /// The types of events that a channel sends; none is all.
    pub fn types(&self) -> &[String] {
        match self {
            Self::Envelope | Self::CloudEvents(_) => &[],
            Self::Channel(filter) => &filter.types,
        }
    }
}

/// A transition, as frames tell of it.
pub struct Transition<'a> {
    /// The job's id.
    pub job: &'a str,
    /// Its queue.
    pub queue: &'a str,
    /// Its type.
    pub job_type: &'a str,
    /// The state before, when there was one and it is known.
    pub from: Option<JobState>,
    /// The state after.
    pub to: JobState,
    /// When.
    pub at: Timestamp,
}

impl Transition<'_> {
    fn render(&self) -> String {
        let mut out = String::from("{");
        push_text(&mut out, "job_id", self.job);
        push_text(&mut out, "queue", self.queue);
        push_text(&mut out, "type", self.job_type);
        match self.from {
            Some(from) => push_text(&mut out, "from", from.as_str()),
            None => push_member(&mut out, "from", "null"),
        }
        push_text(&mut out, "to", self.to.as_str());
        push_time(&mut out, "timestamp", self.at);
        out.push('}');
        out
    }
}

/// Frames on their way out.
#[derive(Debug)]
pub struct Frames {
    text: String,
    /// The channel that messages of a WebSocket name, one message a line; `None` for server-sent events.
    channel: Option<String>,
    /// What a client that has read all of this comes back with.
    last_id: String,
}

impl Frames {
    /// Frames behind a place of the log. The first tells how long to wait before a reconnect, and that place: even a client that
    /// was cut off before its first event comes back to where it was.
    pub fn open(retry_ms: u64, place: Place, now: Timestamp) -> Self {
        let last_id = place.event_id(now);
        Self { text: format!("retry: {retry_ms}\nid: {last_id}\n\n"), channel: None, last_id }
    }

    /// Messages of a channel of a WebSocket, behind a place of the log.
    pub fn of_channel(channel: &str, place: Place, now: Timestamp) -> Self {
        Self { text: String::new(), channel: Some(channel.to_owned()), last_id: place.event_id(now) }
    }

    /// How many bytes wait.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Takes what has been written.
    pub fn take(&mut self) -> Bytes {
        Bytes::from(std::mem::take(&mut self.text))
    }

    /// A sign of life. A WebSocket has pings of its own.
    pub fn heartbeat(&mut self) {
        if self.channel.is_some() {
            return;
        }
        self.text.push_str(":heartbeat\n\n");
    }

    /// An event of the log; what the shape does not want leaves no trace.
    pub fn event(&mut self, shape: &Shape, event: &Event) {
        match shape {
            Shape::Envelope if !event.name.is_empty() => self.frame(&event.id, &event.name, &event.render()),
            Shape::CloudEvents(source) if !event.name.is_empty() => {
                self.frame(&event.id, &event.name, &CloudEvent::of(event, source).structured());
            }
            Shape::Envelope | Shape::CloudEvents(_) => {}
            Shape::Channel(filter) => self.on_channel(filter, event),
        }
    }

    fn on_channel(&mut self, filter: &EventFilter, event: &Event) {
        let named = !event.name.is_empty() && filter.wants_type(&event.name);
        if let (Some(change), Some(origin), true) = (event.change, &event.origin, filter.wants_type(STATE_CHANGED)) {
            let (job, queue, job_type) = (&*event.subject, &*origin.queue, &*origin.job_type);
            let transition = Transition { job, queue, job_type, from: change.from, to: change.to, at: event.at };
            let id = if named { event.place.half_id(event.at) } else { event.id.clone() };
            self.transition(&id, &transition);
        }
        if named {
            self.frame(&event.id, &event.name, &channel_data(event));
        }
    }

    /// A transition.
    pub fn transition(&mut self, id: &str, transition: &Transition<'_>) {
        self.frame(id, STATE_CHANGED, &transition.render());
    }

    /// Progress of a job.
    pub fn progress(&mut self, event: &Event) {
        self.frame(&event.id, "progress", &channel_data(event));
    }

    /// The last word.
    pub fn last(&mut self, event: &str, data: &str) {
        let id = self.last_id.clone();
        self.frame(&id, event, data);
    }

    /// Events that the client was too slow for.
    pub fn dropped(&mut self, channel: &str, dropped: &Dropped, now: Timestamp) {
        let data = json!({
            "channel": channel, "dropped_count": dropped.count, "oldest_dropped_id": dropped.oldest,
            "newest_dropped_id": dropped.newest, "timestamp": now.to_string(),
        });
        self.last_id.clone_from(&dropped.newest);
        if self.channel.is_none() {
            return self.system("system.events_dropped", &data);
        }
        let warning = json!({
            "type": "warning", "code": "events_dropped", "channel": channel, "count": dropped.count,
            "oldest_dropped_id": dropped.oldest, "newest_dropped_id": dropped.newest,
        });
        let _ = writeln!(self.text, "{warning}");
    }

    /// Events between these ids may be missing, and cannot be had any more.
    pub fn gap(&mut self, channel: &str, from: &str, to: &str) {
        self.system("system.gap", &json!({"channel": channel, "gap_start": from, "gap_end": to}));
    }

    /// The server stops. A WebSocket sends it once, not for each channel.
    pub fn shutdown(&mut self, grace_ms: u64) {
        if self.channel.is_none() {
            self.system(SHUTDOWN, &shutdown(grace_ms));
        }
    }

    fn system(&mut self, event: &str, data: &Value) {
        let id = self.last_id.clone();
        self.frame(&id, event, &data.to_string());
    }

    /// An event with its id and its data.
    pub fn frame(&mut self, id: &str, event: &str, data: &str) {
        if self.last_id != id {
            id.clone_into(&mut self.last_id);
        }
        // Writing to a String cannot fail. Data is JSON on one line: no event of the log holds a raw line break.
        let Some(channel) = &self.channel else {
            let _ = write!(self.text, "id: {id}\nevent: {event}\ndata: {data}\n\n");
            return;
        };
        let out = &mut self.text;
        out.push('{');
        push_text(out, "type", "event");
        push_text(out, "channel", channel);
        push_text(out, "event", event);
        push_member(out, "data", data);
        push_text(out, "id", id);
        if let Some(at) = time_of(id) {
            push_time(out, "timestamp", at);
        }
        out.push_str("}\n");
    }
}

/// What `server.shutdown` says.
pub fn shutdown(grace_ms: u64) -> Value {
    json!({"reason": "shutdown", "grace_period_ms": grace_ms})
}

/// The event's own data, and the time; progress under its short names as well.
fn channel_data(event: &Event) -> String {
    let mut out = event.data.strip_suffix('}').unwrap_or("{").to_owned();
    push_time(&mut out, "timestamp", event.at);
    if event.name == "job.progress" {
        let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
        if let Some(percent) = data.get("progress_percent") {
            push_bare(&mut out, "progress", percent);
        }
        if let Some(message) = data.get("progress_message").and_then(Value::as_str) {
            push_text(&mut out, "message", message);
        }
    }
    out.push('}');
    out
}
