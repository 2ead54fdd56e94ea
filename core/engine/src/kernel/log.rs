//! The event log as a whole: where it begins and ends, and where a time stands in it.
use ojs_model::Timestamp;

use crate::error::Result;
use crate::kernel::event::{self, EventFilter, Page, Place};
use crate::store::tables::Tables;

/// The event log's extent.
pub trait LogTables {
    /// Numbers of the oldest batch kept and of the newest ever written; `(0, 0)` for a log that was never written to.
    /// When all have been pruned, the oldest is the one to come.
    fn log_span(&mut self) -> Result<(i64, i64)>;
}

/// What a reader needs to know of the log before it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Oldest batch that is still kept.
    pub oldest: i64,
    /// Behind everything written so far.
    pub end: Place,
    /// Before the first event at or after the time asked for; the end when none was asked for.
    pub at: Place,
}

/// Measures the log and finds a time in it.
pub fn span(tables: &mut dyn Tables, at: Option<Timestamp>) -> Result<Span> {
    let (oldest, newest) = tables.log_span()?;
    let end = Place::before(newest + 1);
    let at = match at {
        Some(at) => Place::before(first_since(tables, at.as_millis(), oldest, newest + 1)?),
        None => end,
    };
    Ok(Span { oldest, end, at })
}

/// The newest events that a filter wants, the oldest of them first; the cursor is behind the end of the log, so nothing follows.
///
/// # Errors
/// A store that cannot be read.
pub fn newest(tables: &mut dyn Tables, filter: &EventFilter) -> Result<Page> {
    /// Batches per look, as for a page from the front.
    const BATCHES: usize = 64;
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
                    events.extend(event::decode(tables, filter, here, line)?);
                }
            }
            found.extend(events.into_iter().rev());
        }
        high = from;
    }
    found.truncate(filter.limit);
    found.reverse();
    Ok((found, span.end.cursor(), false))
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
