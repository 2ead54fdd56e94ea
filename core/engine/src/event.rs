//! Lifecycle events: written as short lines beside the change they tell of, read back as CloudEvents-like objects
//! (protocol section 8.12).
//!
//! A line is `type|time|subject|job type number|queue number|extra`, the extra being the rest of `data` as JSON members.
//! An event's id is a UUIDv7 made from its time and its place in the log, so it costs nothing to keep and leads back to it.
use std::fmt::Write;

use ojs_model::{JobId, Timestamp, json};

use crate::tables::{EventBatch, Result, Tables};

/// Events of one transaction, in order.
#[derive(Debug, Default)]
pub struct Journal {
    lines: String,
    count: usize,
}

impl Journal {
    /// Notes an event of a job. `extra` is the rest of `data`, JSON members without braces.
    pub fn job(&mut self, name: &str, at: Timestamp, row: &crate::job::JobRow, extra: &str) {
        self.count += 1;
        // Writing to a String cannot fail.
        let _ = writeln!(self.lines, "{name}|{}|{}|{}|{}|{extra}", at.as_millis(), row.id, row.kind, row.queue);
    }

    /// Notes an event of a queue or a worker; the subject is a name.
    pub fn other(&mut self, name: &str, at: Timestamp, subject: &str, extra: &str) {
        self.count += 1;
        let _ = writeln!(self.lines, "{name}|{}|{subject}|0|0|{extra}", at.as_millis());
    }

    /// Appends what was noted to the log.
    pub fn write(&mut self, at: Timestamp, tables: &mut dyn Tables) -> Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        tables.append_events(at.as_millis(), &self.lines, self.count)?;
        self.lines.clear();
        self.count = 0;
        Ok(())
    }
}

/// An event as it is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// `evt_<uuidv7>`.
    pub id: String,
    /// `job.completed` and so on.
    pub name: String,
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
    /// Only these types; empty is all.
    pub types: Vec<String>,
    /// Only these queues.
    pub queues: Vec<String>,
    /// Only these job types.
    pub job_types: Vec<String>,
    /// At most this many.
    pub limit: usize,
}

/// A place in the log: batch and index within it. The default is the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    batch: i64,
    index: i64,
}

impl Place {
    /// Reads a cursor (`12.3`) or an event id.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(id) = text.strip_prefix("evt_") {
            let id: JobId = id.parse().ok()?;
            let tail = id.as_bytes().get(8..16)?;
            let bits = tail.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte)) & RAND_B;
            return Some(Self { batch: (bits >> INDEX_BITS).cast_signed(), index: (bits & INDEX_MASK).cast_signed() });
        }
        let (batch, index) = text.split_once('.')?;
        Some(Self { batch: batch.parse().ok()?, index: index.parse().ok()? })
    }

    fn cursor(self) -> String {
        format!("{}.{}", self.batch, self.index)
    }

    /// UUIDv7 layout: 48 bits of time, version, 12 bits free, variant, 62 bits for the place.
    fn event_id(self, at: Timestamp) -> String {
        let place = (self.batch.cast_unsigned() << INDEX_BITS | self.index.cast_unsigned()) & RAND_B;
        let high = at.as_millis().cast_unsigned() << 16 | 0x7000;
        let low = 1_u64 << 63 | place;
        let bytes = (u128::from(high) << 64 | u128::from(low)).to_be_bytes();
        format!("evt_{}", JobId::from_bytes(bytes))
    }
}

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
    }
}

fn decode(tables: &mut dyn Tables, filter: &EventFilter, place: Place, line: &str) -> Result<Option<Event>> {
    let wanted = |list: &[String], value: &str| list.is_empty() || list.iter().any(|w| w == value);
    let mut parts = line.splitn(6, '|');
    let mut next = || parts.next().unwrap_or_default();
    let (name, at, subject, kind, queue, extra) = (next(), next(), next(), next(), next(), next());
    if !wanted(&filter.types, name) {
        return Ok(None);
    }
    let (kind, queue): (i64, i64) = (kind.parse().unwrap_or(0), queue.parse().unwrap_or(0));
    let mut data = String::from("{");
    if kind != 0 {
        let (kind, queue) = (tables.kind_name(kind)?, tables.queue_by_num(queue)?.name);
        if !wanted(&filter.job_types, &kind) || !wanted(&filter.queues, &queue) {
            return Ok(None);
        }
        json::push_text(&mut data, "job_id", subject);
        json::push_text(&mut data, "job_type", &kind);
        json::push_text(&mut data, "queue", &queue);
    } else if !filter.job_types.is_empty() || !wanted(&filter.queues, subject) {
        return Ok(None);
    }
    if !extra.is_empty() {
        if data.len() > 1 {
            data.push(',');
        }
        data.push_str(extra);
    }
    data.push('}');
    let at = Timestamp::from_millis(at.parse().unwrap_or(0));
    Ok(Some(Event { id: place.event_id(at), name: name.to_owned(), at, subject: subject.to_owned(), data }))
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
    }
}
