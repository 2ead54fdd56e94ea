//! Parts of a transaction that may be refused on their own. A refused part leaves no trace.
//!
//! The rules look before they write, so most refusals have written nothing and cost nothing. When a refused part has
//! written something, the try ends: the store undoes all of it, and the writer applies everything again without that
//! part, which is answered with its refusal.
use std::sync::Arc;

use foldhash::HashMap;
use ojs_model::{JobId, OjsError};

/// Identifies a part. The same part has the same name in every try.
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

/// Parts that were refused after they had written something, with their errors.
#[derive(Debug, Default, Clone)]
pub struct Refused(HashMap<Part, OjsError>);

impl Refused {
    /// The error of a part that was refused.
    pub fn why(&self, part: &Part) -> Option<&OjsError> {
        self.0.get(part)
    }

    /// Notes that a part was refused after it had written something.
    pub fn note(&mut self, part: Part, error: OjsError) {
        self.0.insert(part, error);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Forgets them, because another group begins.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
