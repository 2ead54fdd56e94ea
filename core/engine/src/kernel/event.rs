//! Lifecycle events: written as short lines beside the change they tell of, read back as CloudEvents-like objects
//! (protocol section 8.12).
//!
//! A line is `type|time[,from,to]|subject|job type number|queue number|extra`, the extra being the rest of `data` as JSON members.
//! The first line after a transition carries it, as numbers of states (`-` for a new job); a transition that no event tells of gets
//! a line without a type, which only streams read. So the log knows every transition, at the price of four bytes.
//! An event's id is a UUIDv7 made from its time and its place in the log, so it costs nothing to keep and leads back to it.
use std::fmt::Write;
use std::sync::Arc;

use ojs_model::json::{self, push_integer};
use ojs_model::{JobId, JobState, Timestamp};

use crate::error::Result;
use crate::features::statistics::records::Tally;
use crate::kernel::job::JobRow;
use crate::store::tables::{EventBatch, Tables};

/// Events of one transaction, in order.
#[derive(Debug, Default)]
pub struct Journal {
    lines: String,
    count: usize,
    /// A transition that no line carries yet.
    moved: Option<Moved>,
    /// The same, as figures.
    pub tally: Tally,
}

/// A transition on its way into the log.
#[derive(Debug)]
struct Moved {
    at: Timestamp,
    change: Change,
    job: (JobId, i64, i64),
}

impl Journal {
    /// Notes a transition; `from` is `None` for a new job. The next event of the job carries it.
    pub fn moved(&mut self, at: Timestamp, from: Option<JobState>, row: &JobRow) {
        self.flush();
        self.moved = Some(Moved { at, change: Change { from, to: row.state }, job: (row.id, row.job_type_id, row.queue) });
    }

    /// Notes an event of a job. `extra` is the rest of `data`, JSON members without braces.
    pub fn job(&mut self, name: &str, at: Timestamp, row: &JobRow, extra: &str) {
        self.tally.note(name, at.as_millis(), row);
        let carried = self.moved.take_if(|moved| moved.job.0 == row.id);
        self.flush();
        self.line(name, at, carried.map(|moved| moved.change), (row.id, row.job_type_id, row.queue), extra);
    }

    /// Writes a transition that no event has told of.
    fn flush(&mut self) {
        if let Some(Moved { at, change, job }) = self.moved.take() {
            self.line("", at, Some(change), job, "");
        }
    }

    fn line(
        &mut self,
        name: &str,
        at: Timestamp,
        change: Option<Change>,
        (id, job_type_id, queue): (JobId, i64, i64),
        extra: &str,
    ) {
        self.count += 1;
        // Several of these for every job: around the formatter.
        let lines = &mut self.lines;
        lines.push_str(name);
        lines.push('|');
        push_integer(lines, at.as_millis());
        if let Some(Change { from, to }) = change {
            lines.push(',');
            match from {
                Some(from) => push_integer(lines, from as u8),
                None => lines.push('-'),
            }
            lines.push(',');
            push_integer(lines, to as u8);
        }
        lines.push('|');
        lines.push_str(id.encode(&mut [0; 36]));
        for number in [job_type_id, queue] {
            lines.push('|');
            push_integer(lines, number);
        }
        lines.push('|');
        lines.push_str(extra);
        lines.push('\n');
    }

    /// Notes an event of a queue or a worker; the subject is a name.
    pub fn other(&mut self, name: &str, at: Timestamp, subject: &str, extra: &str) {
        self.flush();
        self.count += 1;
        let _ = writeln!(self.lines, "{name}|{}|{subject}|0|0|{extra}", at.as_millis());
    }

    /// What was noted, as those will read it who ask for it later. Places are not known yet.
    pub fn events(&mut self, tables: &mut dyn Tables) -> Result<Vec<Event>> {
        self.flush();
        let all = EventFilter::default();
        let lines = self.lines.lines();
        lines.filter_map(|line| decode(tables, &all, Place::default(), line).transpose()).collect()
    }

    /// Appends what was noted to the log.
    pub fn write(&mut self, at: Timestamp, tables: &mut dyn Tables) -> Result<()> {
        self.flush();
        if self.count == 0 {
            return Ok(());
        }
        tables.append_events(at.as_millis(), &self.lines, self.count)?;
        self.lines.clear();
        self.count = 0;
        Ok(())
    }
}

/// A transition of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The state before; `None` for a new job.
    pub from: Option<JobState>,
    /// The state after.
    pub to: JobState,
}

/// What kind of job an event tells of.
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
    /// Where it stands in the log.
    pub place: Place,
    /// `job.completed` and so on; empty for a transition that is not an event of its own.
    pub name: String,
    /// The transition it tells of, if it does.
    pub change: Option<Change>,
    /// The job's type and queue; `None` for events of queues, workers, workflows and cron entries.
    pub origin: Option<Origin>,
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
        json::push_text(&mut out, "source", "ojs://ojs/engine/local");
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
    /// Behind this place.
    pub after: Place,
    /// Only these types; empty is all. A `*` at the end stands for any ending.
    pub types: Vec<String>,
    /// Only these queues.
    pub queues: Vec<String>,
    /// Only these job types.
    pub job_types: Vec<String>,
    /// At most this many.
    pub limit: usize,
    /// Transitions that are no events of their own as well: what streams need.
    pub transitions: bool,
    /// Only this subject.
    pub subject: Option<String>,
    /// Looks at about so many commits, then answers with what it has; 0 is no bound. Keeps a narrow filter over a long log from
    /// holding up other readers.
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
                let of_queue = self.queues.is_empty() || name.starts_with("queue.");
                self.job_types.is_empty() && of_queue && wanted(&self.queues, subject)
            }
        }
    }

    /// Whether an event that was read without a filter passes.
    #[must_use]
    pub fn wants(&self, event: &Event) -> bool {
        self.wants_type(&event.name)
            && self.subject.as_ref().is_none_or(|subject| *subject == event.subject)
            && self.wants_origin(event.origin.as_ref(), &event.name, &event.subject)
    }
}

/// A place in the log: batch and index within it. The default is the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    batch: i64,
    index: i64,
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
            // Only the first half of what this line has to say was sent: all of it is to be sent again.
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

/// Bit of the free part of an id that says: not all of the event.
const HALF: u128 = 1;
const RAND_B: u64 = (1 << 62) - 1;
/// A commit holds well under 2^20 events: groups are bounded.
const INDEX_BITS: u32 = 20;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;

/// A page of events: the events, the cursor behind the last one looked at, whether there is more.
pub type Page = (Vec<Event>, String, bool);

/// Reads a page. Filters by name numbers are resolved here, so that lines stay short.
pub fn read(tables: &mut dyn Tables, filter: &EventFilter) -> Result<Page> {
    /// Batches per look: bounds memory while skipping what the filter refuses.
    const BATCHES: usize = 64;
    let mut events = Vec::new();
    let mut place = filter.after;
    let mut looked = 0;
    loop {
        let batches = tables.events_from(place.batch, BATCHES)?;
        let last = batches.len() < BATCHES;
        for batch in &batches {
            for (index, line) in batch.lines.lines().enumerate() {
                let here = Place { batch: batch.seq, index: i64::try_from(index + 1).unwrap_or(i64::MAX) };
                if here <= filter.after || here <= place && here.batch == place.batch {
                    continue;
                }
                if let Some(event) = decode(tables, filter, here, line)? {
                    if events.len() == filter.limit {
                        return Ok((events, place.cursor(), true));
                    }
                    events.push(event);
                }
                place = here;
            }
        }
        if last {
            return Ok((events, place.cursor(), false));
        }
        if let Some(EventBatch { seq, .. }) = batches.last() {
            place = place.max(Place { batch: seq + 1, index: 0 });
        }
        looked += batches.len();
        if filter.scan > 0 && looked >= filter.scan {
            return Ok((events, place.cursor(), true));
        }
    }
}

pub(crate) fn decode(tables: &mut dyn Tables, filter: &EventFilter, place: Place, line: &str) -> Result<Option<Event>> {
    let mut parts = line.splitn(6, '|');
    let mut next = || parts.next().unwrap_or_default();
    let (name, at, subject, job_type_id, queue, extra) = (next(), next(), next(), next(), next(), next());
    if !filter.wants_type(name) || filter.subject.as_ref().is_some_and(|wanted| wanted != subject) {
        return Ok(None);
    }
    let (job_type_id, queue): (i64, i64) = (job_type_id.parse().unwrap_or(0), queue.parse().unwrap_or(0));
    let origin = match job_type_id {
        0 => None,
        _ => Some(Origin { job_type: tables.job_type_name(job_type_id)?, queue: tables.queue_by_num(queue)?.name }),
    };
    if !filter.wants_origin(origin.as_ref(), name, subject) {
        return Ok(None);
    }
    let mut data = String::from("{");
    if let Some(Origin { job_type, queue }) = &origin {
        json::push_text(&mut data, "job_id", subject);
        json::push_text(&mut data, "job_type", job_type);
        json::push_text(&mut data, "queue", queue);
    }
    if !extra.is_empty() {
        if data.len() > 1 {
            data.push(',');
        }
        data.push_str(extra);
    }
    data.push('}');
    let (at, change) = decode_change(at);
    let (id, name, subject) = (place.event_id(at), name.to_owned(), subject.to_owned());
    Ok(Some(Event { id, place, name, change, origin, at, subject, data }))
}

/// Reads `time[,from,to]`.
fn decode_change(text: &str) -> (Timestamp, Option<Change>) {
    let mut parts = text.split(',');
    let at = Timestamp::from_millis(parts.next().and_then(|at| at.parse().ok()).unwrap_or(0));
    let mut state = || parts.next().map(|number| number.parse().ok().and_then(JobState::from_number));
    let change = match (state(), state()) {
        (Some(from), Some(Some(to))) => Some(Change { from, to }),
        _ => None,
    };
    (at, change)
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
    }
}
