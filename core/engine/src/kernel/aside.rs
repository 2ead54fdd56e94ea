//! What maintenance leaves out: a job whose rows cannot be read must not stop the others.
//!
//! A sweep is one transaction, and a fault undoes all of it. The item that caused the fault is left out of the next
//! sweeps for a minute, so that they reach the rest; then it is tried again, and logged again if it still fails.
use std::fmt;
use std::sync::Arc;

use foldhash::HashMap;
use ojs_model::JobId;

/// Rows touched by one slice of a sweep: about 5 ms of the writer's time.
pub(crate) const SLICE: usize = 500;
/// How long an item is left out, in milliseconds.
const FOR_MS: i64 = 60_000;

/// An item that a sweep examines.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A job.
    Job(JobId),
    /// Work for a queue as a whole.
    Queue(Arc<str>),
    /// A key with limits.
    Key(Arc<str>),
    /// A cron entry.
    Cron(Arc<str>),
    /// A part of the sweep that is not about single jobs.
    Part(&'static str),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Job(id) => write!(f, "job {id}"),
            Self::Queue(name) => write!(f, "queue '{name}'"),
            Self::Key(name) => write!(f, "rate limit '{name}'"),
            Self::Cron(name) => write!(f, "cron entry '{name}'"),
            Self::Part(name) => f.write_str(name),
        }
    }
}

/// The items that are left out, with the time until when, and the item that the running sweep examines.
#[derive(Debug, Default, Clone)]
pub struct Aside {
    until: HashMap<Subject, i64>,
    looking_at: Option<Subject>,
}

impl Aside {
    /// Notes the item that the sweep examines now; false when it is left out.
    pub(crate) fn look_at(&mut self, subject: Subject, now: i64) -> bool {
        if self.until.get(&subject).is_some_and(|until| now < *until) {
            return false;
        }
        self.looking_at = Some(subject);
        true
    }

    /// The sweep has failed: leaves the item that it was examining out for a while, and returns it.
    pub fn leave_out(&mut self, now: i64) -> Option<Subject> {
        let subject = self.looking_at.take()?;
        self.until.retain(|_, until| now < *until);
        self.until.insert(subject.clone(), now.saturating_add(FOR_MS));
        Some(subject)
    }

    /// The sweep has ended.
    pub fn done(&mut self, now: i64) {
        self.looking_at = None;
        if !self.until.is_empty() {
            self.until.retain(|_, until| now < *until);
        }
    }

    /// Whether nothing is left out.
    pub fn is_empty(&self) -> bool {
        self.until.is_empty()
    }

    /// Names of queues that are left out now.
    pub(crate) fn queues(&self, now: i64) -> Vec<Arc<str>> {
        let left_out = self.until.iter().filter(|(_, until)| now < **until);
        left_out
            .filter_map(|(subject, _)| if let Subject::Queue(name) = subject { Some(Arc::clone(name)) } else { None })
            .collect()
    }

    /// Number of items that are left out.
    pub(crate) fn count(&self) -> usize {
        self.until.len()
    }
}
