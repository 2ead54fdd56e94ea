//! What is asked of many jobs at once.
use ojs_model::{JobId, JobState, OjsError};

use crate::error::Applied;
use crate::features::bulk::records::{Batch, BulkFilter, Order, Stored};
use crate::features::bulk::rules;
pub(crate) use crate::features::bulk::rules::{fits_state, sift};
use crate::features::idempotency::records::{IdempotencyKey, Remembered};
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::store::tables::Tables;
use crate::store::wanted::Wanted;

/// Store jobs.
impl Command for Batch {
    type Reply = Stored;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Stored> {
        transaction.enqueue_many(self)
    }

    fn weight(&self) -> usize {
        self.jobs.len()
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        self.jobs.iter().flatten().for_each(|job| wanted.new_job(job));
    }
}

/// Change jobs.
impl Command for Order {
    /// One per id, in order. When an atomic order found a fault, nothing was done to the others either.
    type Reply = Vec<Result<(), OjsError>>;

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Self::Reply> {
        transaction.change_many(self)
    }

    fn weight(&self) -> usize {
        self.ids.len()
    }

    fn wants<'a>(&'a self, wanted: &mut Wanted<'a>) {
        self.ids.iter().for_each(|id| wanted.job(*id));
    }
}

/// A request is done: tell of it, and keep its answer if it had a key.
#[derive(Debug, Clone)]
pub struct Conclude {
    /// Name of the event.
    pub event: String,
    /// Its members.
    pub extra: String,
    /// The answer to keep: its key, status and body.
    pub answer: Option<(IdempotencyKey, u16, String)>,
}

impl Command for Conclude {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        transaction.conclude(&self.event, &self.extra, self.answer.as_ref())
    }
}

/// The next jobs that a filter lets through, in one state and in the order of their numbers.
#[derive(Debug, Clone)]
pub struct FindJobs {
    /// The filter.
    pub filter: BulkFilter,
    /// The state.
    pub state: JobState,
    /// Behind this number.
    pub after: i64,
    /// Rows to look at.
    pub limit: usize,
}

impl Query for FindJobs {
    /// Ids, and the number to go on behind; `None` at the end.
    type Reply = (Vec<JobId>, Option<i64>);

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        Ok(rules::find(tables, &self.filter, self.state, self.after, self.limit)?)
    }

    fn is_search(&self) -> bool {
        true
    }
}

/// What was answered to the request with an idempotency key.
#[derive(Debug, Clone)]
pub struct GetAnswer(pub String);

impl Query for GetAnswer {
    type Reply = Option<Remembered>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        Ok(tables.answer_under(&self.0)?)
    }
}
