//! Many jobs in one request (protocol section 8.6, extensions section 19): what a store is asked, and how its answers are printed.
use std::sync::Arc;

use ojs_model::json::{member, object};
use ojs_model::{JobId, JobState, NewJob, OjsError};
use serde_json::{Map, Value};

use crate::features::admin::filter::Search;
use crate::features::idempotency::records::{IdempotencyKey, Remembered};
use crate::kernel::job::{Body, History, JobRow, flag};
use crate::kernel::placed::Placed;
use crate::store::record::words;
use crate::store::rows::JobFilter;

/// What is done to each of many jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Action {
    /// As the cancel of one.
    Cancel = 0,
    /// Discarded jobs start afresh; retryable ones do not wait for their back-off any longer.
    Retry = 1,
    /// Ended jobs are removed.
    Delete = 2,
    /// Removes jobs that are not active. A waiting job is cancelled first, and its workflow moves on.
    Purge = 3,
}

words! { Action { Cancel = "cancel", Retry = "retry", Delete = "delete", Purge = "purge" } }

impl Action {
    /// The word of the request.
    #[must_use]
    pub const fn verb(self) -> &'static str {
        self.as_str()
    }

    /// The word of the answer.
    #[must_use]
    pub const fn done(self) -> &'static str {
        match self {
            Self::Cancel => "cancelled",
            Self::Retry => "retried",
            Self::Delete => "deleted",
            Self::Purge => "purged",
        }
    }

    /// Whether it can be done to a job in a state.
    #[must_use]
    pub const fn allows(self, state: JobState) -> bool {
        match self {
            Self::Cancel => !state.is_terminal(),
            Self::Retry => matches!(state, JobState::Discarded | JobState::Retryable),
            Self::Delete => state.is_terminal(),
            Self::Purge => !matches!(state, JobState::Active),
        }
    }

    /// The states that it can be done in, in words.
    #[must_use]
    pub fn states(self) -> String {
        let words = JobState::ALL.into_iter().filter(|state| self.allows(*state)).map(JobState::as_str);
        words.collect::<Vec<_>>().join(", ")
    }
}

/// Which jobs a filter finds, beyond what the lists of operators know.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BulkFilter {
    /// Queue, type and times.
    pub filter: JobFilter,
    /// Only these states.
    pub states: Vec<JobState>,
    /// Only this priority.
    pub priority: Option<i32>,
    /// Only jobs whose `meta` has these members.
    pub meta: Map<String, Value>,
    /// Only jobs that ended before, or were accepted before if they still wait, milliseconds.
    pub older_than: Option<i64>,
    /// Only jobs whose latest error is of this type.
    pub error_type: Option<String>,
    /// Only dead letters.
    pub dead_letters: bool,
    /// Only jobs that match this search.
    pub search: Search,
    /// Only jobs that ended by this time, and retryable ones whose latest attempt began by then, milliseconds.
    pub settled_by: Option<i64>,
}

impl BulkFilter {
    /// Whether a row that the lists found passes.
    #[must_use]
    pub fn fits(&self, row: &JobRow) -> bool {
        let since = if row.state.is_terminal() { row.finished_at } else { row.created_at };
        let settled = if row.state.is_terminal() { row.finished_at } else { row.started_at };
        self.priority.is_none_or(|priority| priority == row.priority)
            && self.older_than.is_none_or(|at| since < at)
            && (!self.dead_letters || row.has(flag::DEAD))
            && self.settled_by.is_none_or(|at| settled <= at)
    }

    /// Whether the errors of a job pass.
    #[must_use]
    pub fn fits_errors(&self, history: &History) -> bool {
        let Some(wanted) = &self.error_type else { return true };
        let errors: Vec<Value> = serde_json::from_str(&history.errors).unwrap_or_default();
        errors.last().and_then(|error| error.get("type")?.as_str()) == Some(wanted)
    }

    /// Whether the fixed part of a job passes.
    #[must_use]
    pub fn fits_meta(&self, body: &Body) -> bool {
        let object = object(&body.text);
        let meta = member(&object, "meta");
        let meta: Map<String, Value> = meta.and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or_default();
        self.meta.iter().all(|(name, value)| meta.get(name) == Some(value))
    }
}

/// Jobs to enqueue, each on its own or all together.
#[derive(Debug, Clone)]
pub struct Batch {
    /// One per element of the request, in order; what could not be read stands for itself.
    pub jobs: Vec<Result<Arc<NewJob>, OjsError>>,
    /// All or none.
    pub atomic: bool,
    /// The request has been sent before if its key is known.
    pub key: Option<IdempotencyKey>,
}

/// Jobs to change.
#[derive(Debug, Clone)]
pub struct Order {
    /// What to do.
    pub action: Action,
    /// To whom; a slice, since one transaction takes them all.
    pub ids: Vec<JobId>,
    /// Only while they are in one of these states; empty for every state that the action allows.
    pub states: Vec<JobState>,
    /// All or none.
    pub atomic: bool,
}

/// What became of a [`Batch`].
#[derive(Debug, Clone)]
pub enum Stored {
    /// One per job, in order.
    Placed(Vec<Result<Placed, OjsError>>),
    /// What the same request was answered before.
    Known(Remembered),
}
