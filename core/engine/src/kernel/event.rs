//! Lifecycle events: written as short lines in the transaction of the change, read back as CloudEvents-like objects
//! (protocol section 8.12).
//!
//! A line is `type|time[,from,to]|subject|job type number|queue number|extra`, the extra being the rest of `data` as
//! JSON members. The first line after a transition carries it, as numbers of states (`-` for a new job); a transition
//! that no event reports gets a line without a type, which only streams read. So the log contains every transition, at
//! four bytes each. An event's id is a UUIDv7 made from its time and its place in the log, so it needs no column and
//! names the place.
use std::sync::Arc;

use ojs_model::envelope::DEFAULT_TENANT;
use ojs_model::json::{self};
use ojs_model::{JobId, JobState, Timestamp};

/// `source` of events where none was chosen.
pub const EVENT_SOURCE: &str = "ojs://ojs/engine/local";

/// A transition of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The state before; `None` for a new job.
    pub from: Option<JobState>,
    /// The state after.
    pub to: JobState,
}

/// The type and queue of the job that an event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The job's type.
    pub job_type: Arc<str>,
    /// The job's queue.
    pub queue: Arc<str>,
}

/// An event as it is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// `evt_<uuidv7>`.
    pub id: String,
    /// Its place in the log.
    pub place: Place,
    /// `job.completed` and so on; empty for a transition that is not an event of its own.
    pub name: String,
    /// The transition that it reports, if any.
    pub change: Option<Change>,
    /// The job's type and queue; `None` for events of queues, workers, workflows and cron entries.
    pub origin: Option<Origin>,
    /// The tenant that it belongs to; `None` for the default one and for events of queues and workers.
    pub tenant: Option<Arc<str>>,
    /// When it happened.
    pub at: Timestamp,
    /// Job id, or name of a queue or worker.
    pub subject: String,
    /// `data` as JSON text.
    pub data: String,
}

impl Event {
    /// The event as JSON text.
    #[must_use]
    pub fn render(&self) -> String {
        let mut out = String::from("{");
        json::push_text(&mut out, "specversion", ojs_model::SPEC_VERSION);
        json::push_text(&mut out, "id", &self.id);
        json::push_text(&mut out, "type", &self.name);
        json::push_text(&mut out, "source", EVENT_SOURCE);
        json::push_time(&mut out, "time", self.at);
        json::push_text(&mut out, "subject", &self.subject);
        json::push_text(&mut out, "datacontenttype", "application/json");
        json::push_member(&mut out, "data", &self.data);
        out.push('}');
        out
    }
}

/// Which events to read.
#[derive(Debug, Clone, Default)]
pub struct EventFilter {
    /// Only events after this place.
    pub after: Place,
    /// Only these types; empty is all. A `*` at the end stands for any ending.
    pub types: Vec<String>,
    /// Only these queues.
    pub queues: Vec<String>,
    /// Only these job types.
    pub job_types: Vec<String>,
    /// Only events of this tenant.
    pub tenant: Option<Arc<str>>,
    /// Most events to return.
    pub limit: usize,
    /// Also transitions that no event reports; streams need them.
    pub transitions: bool,
    /// Only this subject.
    pub subject: Option<String>,
    /// Examines about so many commits, then returns what it has found; 0 means no bound. A narrow filter over a long
    /// log then does not delay other readers.
    pub scan: usize,
}

impl EventFilter {
    /// Whether the type passes.
    #[must_use]
    pub fn wants_type(&self, name: &str) -> bool {
        let fits = |wanted: &String| wanted.strip_suffix('*').map_or(wanted == name, |start| name.starts_with(start));
        if name.is_empty() { self.transitions } else { self.types.is_empty() || self.types.iter().any(fits) }
    }

    /// Whether the job passes, or the queue that an event without a job is about.
    #[must_use]
    pub fn wants_origin(&self, origin: Option<&Origin>, name: &str, subject: &str) -> bool {
        let wanted = |list: &[String], value: &str| list.is_empty() || list.iter().any(|w| w == value);
        match origin {
            Some(origin) => wanted(&self.job_types, &origin.job_type) && wanted(&self.queues, &origin.queue),
            None => {
                // A worker, a cron entry or a workflow may have the name of a queue.
                let of_queue = self.queues.is_empty() || is_of_queue(name);
                self.job_types.is_empty() && of_queue && wanted(&self.queues, subject)
            }
        }
    }

    /// Whether an event of this tenant passes. `of_job`: it is about a job. Events of queues, workers and the server
    /// belong to operators.
    #[must_use]
    pub fn wants_tenant(&self, tenant: Option<&str>, of_job: bool, name: &str) -> bool {
        self.tenant.as_deref().is_none_or(|wanted| is_of_tenant(wanted, tenant, of_job, name))
    }

    /// Whether an event that was read without a filter passes.
    #[must_use]
    pub fn wants(&self, event: &Event) -> bool {
        self.wants_type(&event.name)
            && self.subject.as_ref().is_none_or(|subject| *subject == event.subject)
            && self.wants_tenant(event.tenant.as_deref(), event.origin.is_some(), &event.name)
            && self.wants_origin(event.origin.as_ref(), &event.name, &event.subject)
    }
}

/// A place in the log: batch and index within it. The default is the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    pub(crate) batch: i64,
    pub(crate) index: i64,
}

impl Place {
    /// The event at an index of a batch; the first has index 1.
    #[must_use]
    pub(crate) fn of(batch: i64, index: usize) -> Self {
        Self { batch, index: i64::try_from(index).unwrap_or(i64::MAX) }
    }

    /// Before the first event of a batch.
    #[must_use]
    pub fn before(batch: i64) -> Self {
        Self { batch, index: 0 }
    }

    /// The batch.
    #[must_use]
    pub fn batch(self) -> i64 {
        self.batch
    }

    /// Reads a cursor (`12.3`) or an event id.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(id) = text.strip_prefix("evt_") {
            let id: JobId = id.parse().ok()?;
            let bits = u128::from_be_bytes(*id.as_bytes());
            let place = (bits as u64) & RAND_B;
            let (batch, index) = ((place >> INDEX_BITS).cast_signed(), (place & INDEX_MASK).cast_signed());
            // Only the first of the two messages of this line was sent: both are sent again.
            let half = (bits >> 64) & HALF != 0;
            return Some(Self { batch, index: if half { (index - 1).max(0) } else { index } });
        }
        let (batch, index) = text.split_once('.')?;
        Some(Self { batch: batch.parse().ok()?, index: index.parse().ok()? })
    }

    /// The place as `after` reads it.
    #[must_use]
    pub fn cursor(self) -> String {
        format!("{}.{}", self.batch, self.index)
    }

    /// The id of an event at this place.
    #[must_use]
    pub fn event_id(self, at: Timestamp) -> String {
        self.id(at, 0)
    }

    /// The id of the first of two messages about the event at this place: it leads back to before the event.
    #[must_use]
    pub fn half_id(self, at: Timestamp) -> String {
        self.id(at, HALF)
    }

    /// UUIDv7 layout: 48 bits of time, version, 12 bits free, variant, 62 bits for the place.
    fn id(self, at: Timestamp, free: u128) -> String {
        let place = (self.batch.cast_unsigned() << INDEX_BITS | self.index.cast_unsigned()) & RAND_B;
        let high = u128::from(at.as_millis().cast_unsigned() << 16 | 0x7000) | free;
        let low = 1_u64 << 63 | place;
        format!("evt_{}", JobId::from_bytes((high << 64 | u128::from(low)).to_be_bytes()))
    }
}

/// The time in the id of an event.
#[must_use]
pub fn time_of(id: &str) -> Option<Timestamp> {
    let id: JobId = id.strip_prefix("evt_")?.parse().ok()?;
    let bits = u128::from_be_bytes(*id.as_bytes());
    i64::try_from(bits >> 80).ok().map(Timestamp::from_millis)
}

/// Bit of the free part of an id: this is the first of two messages of the event.
const HALF: u128 = 1;
const RAND_B: u64 = (1 << 62) - 1;
/// A commit holds well under 2^20 events: groups are bounded.
const INDEX_BITS: u32 = 20;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;

/// Whether the subject of an event without a job is the name of a queue.
#[must_use]
pub fn is_of_queue(name: &str) -> bool {
    name.starts_with("queue.") || name.starts_with("backpressure.")
}

/// Whether an event belongs to a tenant. `of_job`: it is about a job. Events of queues, workers and the server belong
/// to operators.
#[must_use]
pub fn is_of_tenant(wanted: &str, tenant: Option<&str>, of_job: bool, name: &str) -> bool {
    let owned = of_job || ["workflow.", "cron.", "train.", "tenant."].iter().any(|start| name.starts_with(start));
    owned && wanted == tenant.unwrap_or(DEFAULT_TENANT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_id_is_a_uuid_that_leads_back_to_its_place() {
        let place = Place { batch: 123_456, index: 789 };
        let id = place.event_id(Timestamp::from_millis(1_770_000_000_000));
        assert_eq!(Place::parse(&id), Some(place));
        assert_eq!(Place::parse(&place.cursor()), Some(place));
        assert_eq!(Place::parse("nonsense"), None);
        let half = place.half_id(Timestamp::from_millis(1_770_000_000_000));
        assert_ne!(half, id);
        assert_eq!(Place::parse(&half), Some(Place { index: 788, ..place }));
        assert_eq!(time_of(&half), Some(Timestamp::from_millis(1_770_000_000_000)));
        assert_eq!(time_of("nonsense"), None);
    }
}
