//! Preview of a replay: what would happen if a dead letter were run again now.
use std::collections::HashSet;

use ojs_model::{JobId, Timestamp};

use crate::kernel::explanation::Reason;
use crate::kernel::job::JobView;

/// What a reason does to a job that is to run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// The job runs; an enqueue of the same job would be refused.
    Warning,
    /// The job is accepted and does not run before the reason ends.
    Waits,
    /// The replay is refused: the job stays as it is.
    Refused,
}

impl Effect {
    /// Its name in answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Waits => "waits",
            Self::Refused => "refused",
        }
    }
}

/// What would happen to one job. Features add to it in their hook `foresee`.
#[derive(Debug)]
pub struct Forecast<'a> {
    /// The job, with the row that it would have.
    pub job: JobView,
    /// The time at which the preview was read.
    pub at: Timestamp,
    /// What earlier jobs of the same preview would occupy: uniqueness keys, heads of trains.
    pub taken: &'a mut HashSet<String>,
    /// The reasons found so far.
    pub reasons: Vec<(Effect, Reason)>,
}

impl Forecast<'_> {
    /// Adds a reason.
    pub fn add(&mut self, effect: Effect, reason: Reason) {
        self.reasons.push((effect, reason));
    }

    /// The id of the job.
    #[must_use]
    pub fn id(&self) -> JobId {
        self.job.row.id
    }
}
