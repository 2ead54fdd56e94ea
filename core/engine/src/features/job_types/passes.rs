//! Walks along lines in which nothing has been found so far.
use foldhash::HashMap;

use crate::features::job_types::records::Place;

/// Pause between two passes: a millisecond for each of so many entries, which is a hundredth of a writer's time.
const ENTRIES_PER_MS: usize = 10;
/// Shortest and longest pause between two passes.
const PAUSE_MS: (i64, i64) = (1_000, 60_000);

/// By queue and types.
pub(crate) type Passes = HashMap<(i64, Vec<i64>), Pass>;

/// A walk along a line in which nothing has been found so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pass {
    /// Nothing is wanted up to here, behind the front.
    pub(super) place: Place,
    /// Entries looked at.
    pub(super) looked: usize,
    /// When it came to the end of the line; 0 while it has not.
    pub(super) ended: i64,
}

impl Pass {
    /// When the next one begins.
    pub(super) fn next_at(&self) -> i64 {
        let pause = i64::try_from(self.looked / ENTRIES_PER_MS).unwrap_or(i64::MAX);
        self.ended.saturating_add(pause.clamp(PAUSE_MS.0, PAUSE_MS.1))
    }
}
