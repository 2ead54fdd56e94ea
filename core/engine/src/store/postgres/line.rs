//! Remembers where the line of a queue begins, so that claims need not read entries of jobs that were just claimed.
//!
//! Entries of claimed jobs stay at the beginning of the index until vacuum comes, and those that another writer is
//! taking are locked: each claim would read them all again. So a process remembers the place that it has reached, for a
//! tenth of a second. A job that is available before that place (taken back, or stored by a slower transaction) waits
//! no longer than that; when there is nothing after it, the line is read from its beginning at once. A job of higher
//! priority is never skipped.
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How long the beginning of a line may be passed over.
const TRUSTED_FOR: Duration = Duration::from_millis(100);

/// A place in a line: rank and ticket.
pub type Place = (i64, i64);

/// Before the first place.
pub const BEGINNING: Place = (-(1 << 15), 0);

/// How far the writers of a process have come in each queue.
#[derive(Debug, Default)]
pub struct Lines {
    /// The place, and when the line was last read from its beginning.
    reached: HashMap<i64, (Place, Instant)>,
}

impl Lines {
    /// Where to begin.
    pub fn start(&self, queue: i64) -> Place {
        match self.reached.get(&queue) {
            Some((place, since)) if since.elapsed() < TRUSTED_FOR => *place,
            _ => BEGINNING,
        }
    }

    /// Takes note of what was read from `start` on: the place of the last job, if there were as many as were asked for.
    pub fn note(&mut self, queue: i64, start: Place, last: Option<Place>) {
        let Some(place) = last else {
            self.reached.remove(&queue);
            return;
        };
        match self.reached.get_mut(&queue) {
            Some((reached, _)) if start != BEGINNING => *reached = place.max(*reached),
            // Forgotten meanwhile.
            None if start != BEGINNING => {}
            _ => drop(self.reached.insert(queue, (place, Instant::now()))),
        }
    }

    /// What was taken may be there again.
    pub fn forget(&mut self) {
        self.reached.clear();
    }
}
