//! Reads the event log: pages, its first and last place, and the place of a time.
use ojs_model::{JobState, Timestamp, json};

use crate::error::Result;
use crate::kernel::event::{Change, Event, EventFilter, Origin, Place};
use crate::kernel::log::Span;
use crate::store::rows::EventBatch;
use crate::store::tables::Tables;

/// Batches read at a time: bounds memory while the filter refuses most events.
const BATCHES: usize = 64;

/// A page of events: the events, the cursor after the last one examined, and whether there are more.
pub type Page = (Vec<Event>, String, bool);

/// Reads a page. Filters by name numbers are resolved here, so that lines stay short.
pub fn read(tables: &mut dyn Tables, filter: &EventFilter) -> Result<Page> {
    let mut events = Vec::new();
    let mut place = filter.after;
    let mut looked = 0;
    loop {
        let batches = tables.events_from(place.batch, BATCHES)?;
        let last = batches.len() < BATCHES;
        for batch in &batches {
            for (index, line) in batch.lines.lines().enumerate() {
                let here = Place::of(batch.seq, index + 1);
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
            place = place.max(Place::before(seq + 1));
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
    let (at, change, tenant) = decode_change(at);
    // A number without a name belongs to no tenant that a caller can be.
    let tenant = if tenant == 0 { None } else { Some(tables.tenant_id(tenant)?.unwrap_or_default()) };
    if !filter.wants_tenant(tenant.as_deref(), origin.is_some(), name) {
        return Ok(None);
    }
    let mut data = String::from("{");
    if let Some(Origin { job_type, queue }) = &origin {
        json::push_text(&mut data, "job_id", subject);
        json::push_text(&mut data, "job_type", job_type);
        json::push_text(&mut data, "queue", queue);
    }
    if let Some(tenant) = &tenant {
        json::push_text(&mut data, "tenant_id", tenant);
    }
    if !extra.is_empty() {
        if data.len() > 1 {
            data.push(',');
        }
        data.push_str(extra);
    }
    data.push('}');
    let (id, name, subject) = (place.event_id(at), name.to_owned(), subject.to_owned());
    Ok(Some(Event { id, place, name, change, origin, tenant, at, subject, data }))
}

/// Reads `time[,from,to[,tenant]]`; without a transition `from` and `to` are empty.
fn decode_change(text: &str) -> (Timestamp, Option<Change>, i64) {
    let mut parts = text.split(',');
    let at = Timestamp::from_millis(parts.next().and_then(|at| at.parse().ok()).unwrap_or(0));
    let mut state = || parts.next().map(|number| number.parse().ok().and_then(JobState::from_number));
    let change = match (state(), state()) {
        (Some(from), Some(Some(to))) => Some(Change { from, to }),
        _ => None,
    };
    let tenant = parts.next().and_then(|tenant| tenant.parse().ok()).unwrap_or(0);
    (at, change, tenant)
}

/// Measures the log and finds a time in it.
pub fn span(tables: &mut dyn Tables, at: Option<Timestamp>) -> Result<Span> {
    let last = tables.log_end()?;
    let (oldest, newest) = tables.log_span()?;
    let (end, written) = (Place::before(last + 1), Place::before(newest + 1));
    let at = match at {
        Some(at) => Place::before(first_since(tables, at.as_millis(), oldest, last + 1)?),
        None => end,
    };
    Ok(Span { oldest, end, written, at })
}

/// The newest event of a commit at this time that a filter wants, if the log still has it. It looks at a bounded
/// number of commits.
///
/// # Errors
/// A store that cannot be read.
pub fn at(tables: &mut dyn Tables, filter: &EventFilter, at: i64) -> Result<Option<Event>> {
    let (oldest, newest) = tables.log_span()?;
    let first = first_since(tables, at, oldest, newest + 1)?;
    let mut found = None;
    for batch in tables.events_from(first, BATCHES)?.iter().take_while(|batch| batch.at == at) {
        for (index, line) in batch.lines.lines().enumerate() {
            found = decode(tables, filter, Place::of(batch.seq, index + 1), line)?.or(found);
        }
    }
    Ok(found)
}

/// A part of the log that is read backwards.
#[derive(Debug, Clone, Copy)]
pub struct Back {
    /// Only events before this place; `None` is the end of the log.
    pub before: Option<Place>,
    /// Not before this time, milliseconds since the epoch.
    pub start: i64,
    /// Before this time.
    pub end: i64,
}

/// Passes events to `take`, the newest first, until it returns false or `filter.scan` commits have been examined.
/// Returns the place before which the next call continues; `None` at the beginning of the log.
///
/// # Errors
/// A store that cannot be read.
pub fn back(
    tables: &mut dyn Tables,
    filter: &EventFilter,
    within: &Back,
    mut take: impl FnMut(&Event) -> bool,
) -> Result<Option<Place>> {
    let newest = tables.log_end()?;
    let (oldest, _) = tables.log_span()?;
    let low = first_since(tables, within.start, oldest, newest + 1)?;
    let top = match within.before {
        Some(place) => place.min(Place::before(newest + 1)),
        None => Place::before(first_since(tables, within.end, oldest, newest + 1)?),
    };
    let mut high = top.batch + i64::from(top.index > 0);
    let mut looked = 0;
    while high > low {
        let from = low.max(high.saturating_sub(BATCHES as i64));
        let batches = tables.events_from(from, BATCHES)?;
        for batch in batches.iter().rev().filter(|batch| batch.seq < high) {
            let lines: Vec<&str> = batch.lines.lines().collect();
            for (index, line) in lines.into_iter().enumerate().rev() {
                let here = Place::of(batch.seq, index + 1);
                if here < top
                    && let Some(event) = decode(tables, filter, here, line)?
                    && !take(&event)
                {
                    return Ok(Some(here));
                }
            }
        }
        high = from;
        looked += BATCHES;
        if looked >= filter.scan {
            break;
        }
    }
    Ok((high > low).then(|| Place::before(high)))
}

/// The newest events that a filter wants, the oldest of them first; the cursor is at the end of the log, so nothing
/// follows.
///
/// # Errors
/// A store that cannot be read.
pub fn newest(tables: &mut dyn Tables, filter: &EventFilter) -> Result<Page> {
    let span = span(tables, None)?;
    let (low, mut high) = (span.oldest.max(filter.after.batch()), span.end.batch());
    let mut found = Vec::new();
    while high > low && found.len() < filter.limit {
        let from = low.max(high.saturating_sub(BATCHES as i64));
        let batches = tables.events_from(from, BATCHES)?;
        for batch in batches.iter().rev().filter(|batch| batch.seq < high) {
            let mut events = Vec::new();
            for (index, line) in batch.lines.lines().enumerate() {
                let here = Place::of(batch.seq, index + 1);
                if here > filter.after {
                    events.extend(decode(tables, filter, here, line)?);
                }
            }
            found.extend(events.into_iter().rev());
        }
        high = from;
    }
    found.truncate(filter.limit);
    found.reverse();
    Ok((found, span.end.max(filter.after).cursor(), false))
}

/// The first batch in `low..high` committed at or after a time: batches are in order of time, so halving finds it.
fn first_since(tables: &mut dyn Tables, at: i64, mut low: i64, mut high: i64) -> Result<i64> {
    while low < high {
        let middle = low + (high - low) / 2;
        match tables.events_from(middle, 1)?.first() {
            Some(batch) if batch.at < at => low = batch.seq + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}
