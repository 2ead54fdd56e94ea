//! Claims that name job types: where in a line they look, and how much of it at once.
//!
//! Each claim looks at the front of the line. When nothing that it wants is there, it goes on from where the last claim for the same types
//! stopped, up to [`DEEP`] entries: so a line of a million jobs that others are to run is passed once, in slices that
//! delay no other claim, and then only its new entries are looked at. Jobs of higher priority that come into the middle
//! of such a line are found by the next pass; the pause before it grows with the length of the line.
use std::sync::{MutexGuard, PoisonError};

use crate::error::StoreError;
use crate::features::job_types::passes::{Pass, Passes};
use crate::features::job_types::records::BEGINNING;
use crate::kernel::job::{Body, JobRow};
use crate::kernel::transaction::Transaction;

/// Entries of the front that every claim looks at.
const FRONT: usize = 100;
/// Entries behind it that one claim looks at: about 5 ms of a writer's time.
const DEEP: usize = 4_000;
/// Pause between two slices of a pass.
const SLICE_MS: i64 = 20;
/// Passes remembered; those beyond begin anew.
const MAX_PASSES: usize = 1_000;

impl Transaction<'_> {
    /// Available jobs of some types, best first as far as was looked.
    pub(crate) fn ready_of(
        &mut self,
        queue: i64,
        job_type_ids: &[i64],
        wanted: usize,
    ) -> Result<Vec<(JobRow, Body)>, StoreError> {
        let key = (queue, job_type_ids.to_vec());
        let front = self.tables.look_for(queue, job_type_ids, BEGINNING, FRONT, wanted)?;
        if !front.more {
            self.passes().remove(&key);
        }
        let (Some(last), true, true) = (front.last, front.more, front.found.is_empty()) else { return Ok(front.found) };
        let now = self.now.as_millis();
        let known = self.passes().get(&key).copied().filter(|pass| pass.ended == 0 || pass.next_at() > now);
        let mut pass = known.unwrap_or(Pass { place: last, looked: FRONT, ended: 0 });
        pass.place = pass.place.max(last);
        let deep = self.tables.look_for(queue, job_type_ids, pass.place, DEEP, wanted)?;
        if deep.found.is_empty() {
            pass.place = deep.last.unwrap_or(pass.place);
            pass.looked = pass.looked.saturating_add(DEEP);
            if !deep.more && pass.ended == 0 {
                pass.ended = now;
            }
            self.look_again(if deep.more { now.saturating_add(SLICE_MS) } else { pass.next_at() });
        }
        let mut passes = self.passes();
        if passes.len() >= MAX_PASSES {
            passes.clear();
        }
        passes.insert(key, pass);
        drop(passes);
        Ok(deep.found)
    }

    /// Forgets how far claims have come.
    pub(crate) fn forget_passes(&mut self) {
        self.passes().clear();
    }

    /// Of all writers of the process: the next claim for the same types may come to another one.
    fn passes(&self) -> MutexGuard<'_, Passes> {
        // Each value is whole after every statement.
        self.counters.kept.passes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A fetch that waits looks again at this time at the latest.
    pub(crate) fn look_again(&mut self, at: i64) {
        self.retry_at = Some(self.retry_at.map_or(at, |earlier| earlier.min(at)));
    }
}
