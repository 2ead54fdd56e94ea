//! Available jobs of a queue, read ahead for all the claims of a group.
use std::collections::VecDeque;

use ojs_model::JobState;

use super::line::Place;
use crate::kernel::holds::FREE_BELOW;
use crate::kernel::job::{Body, JobRow};

/// Jobs read ahead. The commands before a claim may change the line: an outcome makes the next job of a train or
/// workflow available, or takes a job out that was read. The claim must see the line as they have left it.
#[derive(Debug, Default)]
pub struct Pool {
    /// Best first.
    pub jobs: VecDeque<(JobRow, Body)>,
    /// There were no more.
    pub exhausted: bool,
    /// The first place of the line where it is no longer as it was read.
    changed_at: Option<Place>,
}

/// Where a job stands in its line.
fn place(row: &JobRow) -> Place {
    (i64::from(row.rank()), row.sort_key)
}

/// Whether a claim can take the job.
fn is_ready(row: &JobRow) -> bool {
    row.state == JobState::Available && row.rank() < FREE_BELOW
}

impl Pool {
    /// Whether the best jobs, so many, are these still.
    pub fn has(&self, wanted: usize) -> bool {
        let taken = self.jobs.len().min(wanted);
        let last = taken.checked_sub(1).and_then(|at| self.jobs.get(at)).map(|(row, _)| place(row));
        let is_old = matches!((self.changed_at, last), (Some(changed), Some(last)) if changed < last);
        !is_old && (self.jobs.len() >= wanted || self.exhausted)
    }

    /// A job of this queue changes or is deleted, after the line was read.
    pub fn note(&mut self, before: &JobRow, after: Option<&JobRow>) {
        let came = after.filter(|after| is_ready(after));
        if came.is_some() {
            // It may stand behind all that were read.
            self.exhausted = false;
        }
        // A job that a claim has taken is not there any more.
        let is_there = is_ready(before) && self.holds(before);
        if is_there {
            self.jobs.retain(|(row, _)| row.seq != before.seq);
            self.exhausted = false;
        }
        let at = came.map(place);
        self.changed_at = self.changed_at.into_iter().chain(at).min();
    }

    /// Jobs are in the order of their places, so a claim that takes the first ones costs one comparison here.
    fn holds(&self, row: &JobRow) -> bool {
        let (at, first) = (place(row), self.jobs.front());
        first.is_some_and(|(first, _)| place(first) <= at) && self.jobs.iter().any(|(other, _)| other.seq == row.seq)
    }
}
