//! Why a job is not running: the reasons, each with since when, until when, and what helps.
use serde_json::{Map, Value, json};

use crate::kernel::job::JobView;
use ojs_model::{JobState, Timestamp};

/// One reason why a job is not running.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// Its name, for programs: `queue_paused`.
    pub code: &'static str,
    /// A sentence for people.
    pub message: String,
    /// Since when, milliseconds; 0 when it is not known.
    pub since: i64,
    /// When it ends by itself, milliseconds; 0 when it does not, or when that is not known.
    pub until: i64,
    /// Path of the API where what holds the job is shown; empty for none.
    pub link: String,
    /// The command that helps; empty for none.
    pub command: String,
    /// More, by name.
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

    fn to_value(&self) -> Value {
        let mut object = json!({"code": self.code, "message": self.message});
        let optional = [
            ("since", stamp(self.since)),
            ("until", stamp(self.until)),
            ("link", text(&self.link)),
            ("command", text(&self.command)),
            ("details", if self.details.is_empty() { Value::Null } else { Value::Object(self.details.clone()) }),
        ];
        if let Value::Object(members) = &mut object {
            members
                .extend(optional.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), value)));
        }
        object
    }
}

fn stamp(at: i64) -> Value {
    if at > 0 { json!(Timestamp::from_millis(at).to_string()) } else { Value::Null }
}

fn text(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { json!(text) }
}

/// Why a job is not running.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// The job.
    pub job: JobView,
    /// The reasons; what stands first has to end first. Empty for a job that runs or has ended, and for one that the
    /// next fetch of its queue gets.
    pub reasons: Vec<Reason>,
    /// The time of the reading.
    pub at: Timestamp,
    /// The caller may learn what belongs to the job's tenant only: no workers, no places in shared lines.
    pub for_tenant: bool,
}

impl Explanation {
    /// Adds a reason.
    pub fn add(&mut self, reason: Reason) {
        self.reasons.push(reason);
    }

    /// Whether there is no reason so far.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.reasons.is_empty()
    }

    /// One sentence.
    #[must_use]
    pub fn summary(&self) -> String {
        let row = &self.job.row;
        match (row.state, self.reasons.first()) {
            (JobState::Active, _) => match &self.job.worker {
                Some(worker) if !self.for_tenant => format!("It is running: attempt {}, on worker {worker}.", row.attempt),
                _ => format!("It is running: attempt {}.", row.attempt),
            },
            (state, _) if state.is_terminal() => format!("It has ended: {}.", state.as_str()),
            (_, Some(first)) => first.message.clone(),
            (_, None) => format!("Nothing holds it: the next fetch of queue '{}' gets it.", self.job.queue),
        }
    }

    /// The form on the wire.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let row = &self.job.row;
        let reasons: Vec<Value> = self.reasons.iter().map(Reason::to_value).collect();
        json!({
            "job_id": row.id.to_string(), "state": row.state.as_str(), "queue": &*self.job.queue,
            "running": row.state == JobState::Active, "ended": row.state.is_terminal(),
            "summary": self.summary(), "reasons": reasons, "at": self.at.to_string(),
        })
    }
}
