//! Claims that name job types: looking for them in a line that holds others as well.
//!
//! A line is ordered by priority and time, and no index knows of types: one would cost every enqueue and claim. So a claim that names types
//! looks at a bounded number of entries, and the next one goes on where it stopped; a claim that names none does not come here.
use crate::error::Result;
use crate::kernel::job::{Body, JobRow};

/// A place in the line of a queue: rank and ticket.
pub type Place = (i64, i64);

/// Before the first place.
pub const BEGINNING: Place = (-(1 << 15), 0);

/// What a look at a part of a line has found.
#[derive(Debug, Default)]
pub struct Look {
    /// Jobs of the types that are wanted, best first.
    pub found: Vec<(JobRow, Body)>,
    /// The last place that was looked at; `None` when there was no entry.
    pub last: Option<Place>,
    /// The line may go on behind it.
    pub more: bool,
}

/// What claims that name job types need beside [`Tables`](crate::store::tables::Tables).
pub trait TypeTables {
    /// Available jobs of some types among the next `entries` of a line behind a place, at most `limit`. None that
    /// anything holds.
    fn look_for(&mut self, queue: i64, job_type_ids: &[i64], after: Place, entries: usize, limit: usize) -> Result<Look>;
}
