//! Why a job is not running: the reasons, each with its begin, its end and a command that helps.
use ojs_model::Timestamp;
use serde_json::{Map, Value};

use crate::kernel::job::JobView;

/// One reason why a job is not running.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// Its name, for programs: `queue_paused`.
    pub code: &'static str,
    /// A sentence for people.
    pub message: String,
    /// When it began, in milliseconds; 0 when that is not known.
    pub since: i64,
    /// When it ends by itself, in milliseconds; 0 when it does not, or when that is not known.
    pub until: i64,
    /// Path of the API where what holds the job is shown; empty for none.
    pub link: String,
    /// The command that helps; empty for none.
    pub command: String,
    /// Further details, by name.
    pub details: Map<String, Value>,
}

impl Reason {
    /// A reason with its sentence.
    #[must_use]
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        let (link, command) = (String::new(), String::new());
        Self { code, message: message.into(), since: 0, until: 0, link, command, details: Map::new() }
    }

    /// Since when, milliseconds.
    #[must_use]
    pub fn since(mut self, at: i64) -> Self {
        self.since = at;
        self
    }

    /// When it ends by itself, milliseconds.
    #[must_use]
    pub fn until(mut self, at: i64) -> Self {
        self.until = at;
        self
    }

    /// Where the API shows what holds the job: a path below `/ojs/v1`.
    #[must_use]
    pub fn link(mut self, path: impl Into<String>) -> Self {
        self.link = path.into();
        self
    }

    /// The command that helps.
    #[must_use]
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.command = command.into();
        self
    }

    /// One more detail.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}

/// Why a job is not running.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// The job.
    pub job: JobView,
    /// The reasons, in the order in which they must end. Empty for a job that runs or has ended, and for the job that
    /// the next fetch of its queue gets.
    pub reasons: Vec<Reason>,
    /// The time of the reading.
    pub at: Timestamp,
    /// The caller may see only what belongs to the job's tenant: no workers, no places in shared lines.
    pub for_tenant: bool,
}

impl Explanation {
    /// Adds a reason.
    pub fn add(&mut self, reason: Reason) {
        self.reasons.push(reason);
    }
}
