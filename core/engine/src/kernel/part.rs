//! Parts of a transaction that may be refused on their own. What is refused leaves no trace.
//!
//! The rules look before they write, so most refusals have written nothing and cost nothing. When a refused part has written something, the
//! try ends: the store undoes all of it, and the writer applies everything again without that part, which is answered with its refusal.
use std::sync::Arc;

use foldhash::HashMap;
use ojs_model::{JobId, OjsError};

use crate::error::{Applied, Refusal, StoreError};
use crate::kernel::transaction::Transaction;

/// Which part. The same one has the same name in every try.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Part {
    /// A command, by its place in the group.
    Command(usize),
    /// An outcome of an exchange: the place of the command, and its place in it.
    Outcome(usize, usize),
    /// A job of a bulk request, by the same places.
    Job(usize, usize),
    /// A step of a workflow: the id of the workflow, and the index of the step.
    Step(JobId, i64),
    /// The run of a cron entry.
    Cron(Arc<str>),
    /// A job that an application inserted by plain SQL.
    Inserted(JobId),
}

/// Parts that were refused after they had written something, and why.
#[derive(Debug, Default, Clone)]
pub struct Refused(HashMap<Part, OjsError>);

impl Refused {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Another group begins.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl Transaction<'_> {
    /// Carries out a part that may be refused on its own.
    ///
    /// # Errors
    /// What the part is refused with; [`StoreError::Conflict`] when it had written something before: then the transaction must be undone
    /// and applied again.
    pub(crate) fn part<T>(&mut self, part: Part, work: impl FnOnce(&mut Self) -> Applied<T>) -> Applied<T> {
        if let Some(error) = self.counters.refused.0.get(&part) {
            return Err(error.clone().into());
        }
        let before = self.tables.changes();
        match work(self) {
            Err(Refusal::Ojs(error)) if self.tables.changes() != before => {
                tracing::debug!(?part, %error, "refused after it had written something: everything is applied again without it");
                self.counters.refused.0.insert(part, *error);
                Err(StoreError::Conflict("a refused command had written something".into()).into())
            }
            done => done,
        }
    }
}
