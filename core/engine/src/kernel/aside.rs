//! What maintenance leaves out: a job whose rows cannot be read must not stop the others.
//!
//! A sweep is one transaction, and a fault undoes all of it. What it was looking at then is left out of the next ones for a minute, so they
//! go on with the rest; after that it is tried again, and named in the log again if nothing has changed.
use std::fmt;
use std::sync::Arc;

use foldhash::HashMap;
use ojs_model::JobId;

use crate::kernel::job::JobRow;
use crate::kernel::transaction::Transaction;

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
    fn look_at(&mut self, subject: Subject, now: i64) -> bool {
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
    fn queues(&self, now: i64) -> Vec<Arc<str>> {
        let left_out = self.until.iter().filter(|(_, until)| now < **until);
        left_out
            .filter_map(|(subject, _)| if let Subject::Queue(name) = subject { Some(Arc::clone(name)) } else { None })
            .collect()
    }

    /// How many things are left out.
    fn count(&self) -> usize {
        self.until.len()
    }
}

impl Transaction<'_> {
    /// Whether a sweep goes into one of its parts.
    pub(crate) fn enters(&mut self, part: &'static str) -> bool {
        self.counters.aside.look_at(Subject::Part(part), self.now.as_millis())
    }

    /// Whether a sweep takes a job.
    pub(crate) fn takes(&mut self, row: &JobRow) -> bool {
        self.counters.aside.look_at(Subject::Job(row.id), self.now.as_millis())
    }

    /// Whether a sweep does something for a queue.
    pub(crate) fn takes_queue(&mut self, name: &Arc<str>) -> bool {
        self.counters.aside.look_at(Subject::Queue(Arc::clone(name)), self.now.as_millis())
    }

    /// Whether a sweep opens a key.
    pub(crate) fn takes_key(&mut self, name: &Arc<str>) -> bool {
        self.counters.aside.look_at(Subject::Key(Arc::clone(name)), self.now.as_millis())
    }

    /// Whether a sweep fires a cron entry.
    pub(crate) fn takes_cron(&mut self, name: &str) -> bool {
        self.counters.aside.look_at(Subject::Cron(name.into()), self.now.as_millis())
    }

    /// Queues whose inserted rows a sweep leaves where they are.
    pub(crate) fn queues_aside(&self) -> Vec<Arc<str>> {
        self.counters.aside.queues(self.now.as_millis())
    }

    /// A slice that has room for other jobs beside those that are left out.
    pub(crate) fn slice(&self) -> usize {
        crate::kernel::maintenance::SLICE + self.counters.aside.count()
    }
}
