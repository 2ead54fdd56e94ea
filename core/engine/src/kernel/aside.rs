//! What maintenance leaves out: a job whose rows cannot be read must not stop the others.
//!
//! A sweep is one transaction, and a fault undoes all of it. What it was looking at then is left out of the next ones for a minute, so they
//! go on with the rest; after that it is tried again, and named in the log again if nothing has changed.
use std::fmt;
use std::sync::Arc;

use foldhash::HashMap;
use ojs_model::JobId;

/// Rows touched by one slice of a sweep: about 5 ms of the writer's time.
pub(crate) const SLICE: usize = 500;
/// How long something is left out, milliseconds.
const FOR_MS: i64 = 60_000;

/// What a sweep looks at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A job.
    Job(JobId),
    /// What is done for a queue as a whole.
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

/// What is left out, until when; and what the running sweep looks at.
#[derive(Debug, Default, Clone)]
pub struct Aside {
    until: HashMap<Subject, i64>,
    looking_at: Option<Subject>,
}

impl Aside {
    /// Looks at something; false when it is left out.
    pub(crate) fn look_at(&mut self, subject: Subject, now: i64) -> bool {
        if self.until.get(&subject).is_some_and(|until| now < *until) {
            return false;
        }
        self.looking_at = Some(subject);
        true
    }

    /// The sweep has failed: what it was looking at is left out for a while. Says what that was.
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

    /// How many things are left out.
    pub(crate) fn count(&self) -> usize {
        self.until.len()
    }
}
