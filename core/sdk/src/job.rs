//! A job as a server describes it.
//!
//! Reading is tolerant: servers differ in which attributes they send, ids may be any text, states may be new words.
//! Whatever is missing or odd is absent here and still there in [`Job::document`].
use std::fmt;

use bytes::Bytes;
use ojs_model::Timestamp;
use ojs_model::envelope::TENANT_ID;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::error::Error;
use crate::json::Json;
use crate::members::find;

/// A job.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Job {
    /// Stable across retries and redeliveries.
    pub id: String,
    /// Dot-separated type.
    pub job_type: String,
    /// Its queue.
    pub queue: String,
    /// Where it stands in its life.
    pub state: JobState,
    /// The arguments: an array.
    pub args: Json,
    /// The metadata: an object.
    pub meta: Json,
    /// −100..=100, higher first.
    pub priority: i64,
    /// Attempts begun; 1 during the first run.
    pub attempt: u32,
    /// Attempts allowed.
    pub max_attempts: Option<u32>,
    /// When the server accepted it.
    pub created_at: Option<Timestamp>,
    /// When it last became available.
    pub enqueued_at: Option<Timestamp>,
    /// When it is to become available.
    pub scheduled_at: Option<Timestamp>,
    /// When the latest attempt began.
    pub started_at: Option<Timestamp>,
    /// When it was completed, or discarded after its last failure.
    pub completed_at: Option<Timestamp>,
    /// When it was cancelled.
    pub cancelled_at: Option<Timestamp>,
    /// When it is discarded unless started.
    pub expires_at: Option<Timestamp>,
    /// When it is tried again.
    pub next_attempt_at: Option<Timestamp>,
    /// What the handler returned.
    pub result: Option<Json>,
    /// The latest failure.
    pub error: Option<JobFailure>,
    /// All recorded failures, oldest first.
    pub errors: Vec<JobFailure>,
    /// Labels.
    pub tags: Vec<String>,
    /// The workflow it is part of.
    pub workflow_id: Option<String>,
    /// Results of earlier steps of the workflow: an array.
    pub parent_results: Option<Json>,
    /// Its place in its train; `None` when it runs in none.
    pub train: Option<JobTrain>,
    /// Everything the server said, attributes unknown here included.
    pub document: Json,
}

/// Where a job stands in its life (protocol section 2.1).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JobState {
    /// Waiting for its time.
    Scheduled,
    /// Ready to be fetched.
    Available,
    /// Staged until it is activated.
    Pending,
    /// With a worker.
    Active,
    /// Done.
    Completed,
    /// Failed, waiting to be tried again.
    Retryable,
    /// Cancelled.
    Cancelled,
    /// Failed for good, or expired.
    Discarded,
    /// A state that only a newer server knows, or none at all.
    Other(String),
}

impl JobState {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Available => "available",
            Self::Pending => "pending",
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Retryable => "retryable",
            Self::Cancelled => "cancelled",
            Self::Discarded => "discarded",
            Self::Other(word) => word,
        }
    }

    /// True when the job will not run again on its own.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled | Self::Discarded)
    }
}

impl From<&str> for JobState {
    fn from(word: &str) -> Self {
        use ojs_model::JobState as Known;
        match word.parse::<Known>() {
            Ok(Known::Scheduled) => Self::Scheduled,
            Ok(Known::Available) => Self::Available,
            Ok(Known::Pending) => Self::Pending,
            Ok(Known::Active) => Self::Active,
            Ok(Known::Completed) => Self::Completed,
            Ok(Known::Retryable) => Self::Retryable,
            Ok(Known::Cancelled) => Self::Cancelled,
            Ok(Known::Discarded) => Self::Discarded,
            Err(_) => Self::Other(word.to_owned()),
        }
    }
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failed attempt (protocol section 4.6).
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct JobFailure {
    /// Machine-readable.
    pub code: String,
    /// The error's type.
    #[serde(rename = "type")]
    pub kind: String,
    /// For people.
    pub message: String,
    /// Which attempt it was.
    pub attempt: Option<u32>,
    /// When, in RFC 3339.
    pub occurred_at: Option<String>,
    /// Anything more.
    pub details: Option<serde_json::Value>,
}

/// Where a job stands in its train (extensions section 30). The server decides all of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct JobTrain {
    /// The train's id.
    pub id: String,
    /// The job's number in the train, from 1 in the order in which jobs joined it.
    pub position: u64,
    /// `locomotive`: the one job of the train that may run; `car`: it waits; `left`: its turn is over.
    pub role: String,
    /// How many jobs of the train run before it.
    pub ahead: u64,
    /// The state of the train: `running`, `draining` (a cancelled job still runs) or `held`.
    pub state: String,
    /// A number that grows with every delivery of a job of this train, to whichever worker. A resource that remembers
    /// the largest one can refuse what a handler of an earlier delivery still sends (a fencing token). 0 unless the job
    /// is the locomotive.
    pub epoch: u64,
}

/// The attributes read here, as text.
#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow, rename = "type")]
    job_type: Option<&'a RawValue>,
    #[serde(borrow)]
    queue: Option<&'a RawValue>,
    #[serde(borrow)]
    state: Option<&'a RawValue>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    meta: Option<&'a RawValue>,
    #[serde(borrow)]
    priority: Option<&'a RawValue>,
    #[serde(borrow)]
    attempt: Option<&'a RawValue>,
    #[serde(borrow)]
    max_attempts: Option<&'a RawValue>,
    #[serde(borrow)]
    created_at: Option<&'a RawValue>,
    #[serde(borrow)]
    enqueued_at: Option<&'a RawValue>,
    #[serde(borrow)]
    scheduled_at: Option<&'a RawValue>,
    #[serde(borrow)]
    started_at: Option<&'a RawValue>,
    #[serde(borrow)]
    completed_at: Option<&'a RawValue>,
    #[serde(borrow)]
    cancelled_at: Option<&'a RawValue>,
    #[serde(borrow)]
    expires_at: Option<&'a RawValue>,
    #[serde(borrow)]
    next_attempt_at: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    errors: Option<&'a RawValue>,
    #[serde(borrow)]
    tags: Option<&'a RawValue>,
    #[serde(borrow)]
    workflow_id: Option<&'a RawValue>,
    #[serde(borrow)]
    parent_results: Option<&'a RawValue>,
    #[serde(borrow)]
    train: Option<&'a RawValue>,
}

/// A job about which nothing is known.
impl Default for Job {
    fn default() -> Self {
        Self {
            id: String::new(),
            job_type: String::new(),
            queue: String::new(),
            state: JobState::Other(String::new()),
            args: Json::empty_array(),
            meta: Json::empty_object(),
            priority: 0,
            attempt: 0,
            max_attempts: None,
            created_at: None,
            enqueued_at: None,
            scheduled_at: None,
            started_at: None,
            completed_at: None,
            cancelled_at: None,
            expires_at: None,
            next_attempt_at: None,
            result: None,
            error: None,
            errors: Vec::new(),
            tags: Vec::new(),
            workflow_id: None,
            parent_results: None,
            train: None,
            document: Json::empty_object(),
        }
    }
}

impl Job {
    /// Reads a job's document.
    ///
    /// # Errors
    /// [`Error::Serialization`] when it is not a JSON object.
    pub fn parse(document: Bytes) -> Result<Self, Error> {
        let wire: Wire<'_> = serde_json::from_slice(&document).map_err(|e| Error::json("job", e))?;
        let part = |raw: Option<&RawValue>| raw.map(|raw| Json::part(&document, raw));
        let time = |raw: Option<&RawValue>| Timestamp::parse(&read::<String>(raw)?).ok();
        let state: String = read(wire.state).unwrap_or_default();
        Ok(Self {
            id: read(wire.id).unwrap_or_default(),
            job_type: read(wire.job_type).unwrap_or_default(),
            queue: read(wire.queue).unwrap_or_else(|| "default".to_owned()),
            state: state.as_str().into(),
            args: part(wire.args).unwrap_or_else(Json::empty_array),
            meta: part(wire.meta).unwrap_or_else(Json::empty_object),
            priority: read(wire.priority).unwrap_or_default(),
            attempt: read(wire.attempt).unwrap_or_default(),
            max_attempts: read(wire.max_attempts),
            created_at: time(wire.created_at),
            enqueued_at: time(wire.enqueued_at),
            scheduled_at: time(wire.scheduled_at),
            started_at: time(wire.started_at),
            completed_at: time(wire.completed_at),
            cancelled_at: time(wire.cancelled_at),
            expires_at: time(wire.expires_at),
            next_attempt_at: time(wire.next_attempt_at),
            result: part(wire.result),
            error: read(wire.error),
            errors: read(wire.errors).unwrap_or_default(),
            tags: read(wire.tags).unwrap_or_default(),
            workflow_id: read(wire.workflow_id),
            parent_results: part(wire.parent_results),
            train: read(wire.train),
            document: Json::parsed(document.clone()),
        })
    }

    /// Reads all arguments: a tuple or a `Vec` for positional ones; a struct for a single object, or by position.
    ///
    /// # Errors
    /// [`Error::Serialization`] when they do not fit.
    pub fn args<T: DeserializeOwned>(&self) -> Result<T, Error> {
        read_args(self.args.as_bytes())
    }

    /// Reads one argument by position.
    ///
    /// # Errors
    /// [`Error::Validation`] when there is none, [`Error::Serialization`] when it does not fit.
    pub fn arg<T: DeserializeOwned>(&self, index: usize) -> Result<T, Error> {
        let args: Vec<&RawValue> = serde_json::from_slice(self.args.as_bytes()).map_err(|e| Error::json("args", e))?;
        let raw = args
            .get(index)
            .ok_or_else(|| Error::validation("args", format!("there is no argument {index}, only {}", args.len())))?;
        serde_json::from_str(raw.get()).map_err(|e| Error::json("args", e))
    }

    /// The tenant that the job belongs to, `meta.tenant_id`; `None` when it names none.
    #[must_use]
    pub fn tenant(&self) -> Option<String> {
        let meta = ojs_model::json::members(self.meta.as_str()).ok()?;
        find(&meta, TENANT_ID).and_then(ojs_model::json::string).map(std::borrow::Cow::into_owned)
    }

    /// Any attribute by name, those unknown to this version included.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<Json> {
        let members: std::collections::HashMap<String, &RawValue> = serde_json::from_slice(self.document.as_bytes()).ok()?;
        members.get(name).map(|raw| Json::part(self.document.as_bytes(), raw))
    }
}

/// What does not fit is treated as absent: one odd attribute must not hide a job.
fn read<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// Arguments into a type: a single object into a struct, anything else by position.
pub(crate) fn read_args<T: DeserializeOwned>(args: &[u8]) -> Result<T, Error> {
    let fault = |e| Error::json("args", e);
    let items: Vec<&RawValue> = serde_json::from_slice(args).map_err(fault)?;
    if let [only] = items.as_slice()
        && only.get().starts_with('{')
        && let Ok(whole) = serde_json::from_str(only.get())
    {
        return Ok(whole);
    }
    serde_json::from_slice(args).map_err(fault)
}

/// The `job` of an answer; a bare document is taken as it is.
pub(crate) fn from_answer(body: &Bytes) -> Result<Job, Error> {
    #[derive(Deserialize)]
    struct Answer<'a> {
        #[serde(borrow)]
        job: Option<&'a RawValue>,
    }
    let answer: Answer<'_> = serde_json::from_slice(body).map_err(|e| Error::json("answer", e))?;
    Job::parse(answer.job.map_or_else(|| body.clone(), |raw| body.slice_ref(raw.get().as_bytes())))
}

/// The `jobs` of an answer, in order.
pub(crate) fn list_from_answer(body: &Bytes) -> Result<Vec<Job>, Error> {
    #[derive(Deserialize)]
    struct Answer<'a> {
        #[serde(borrow, default)]
        jobs: Option<Vec<&'a RawValue>>,
    }
    let answer: Answer<'_> = serde_json::from_slice(body).map_err(|e| Error::json("answer", e))?;
    // Some servers write an empty list as null.
    answer.jobs.unwrap_or_default().iter().map(|raw| Job::parse(body.slice_ref(raw.get().as_bytes()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_documents_are_read() {
        let job = Job::parse(Bytes::from_static(
            br#"{"id":"test-id","type":"t","state":"sleeping","args":[1.0,1e3],"priority":"high","x_own":{"a":1},"result":0}"#,
        ))
        .unwrap();
        assert_eq!((job.id.as_str(), job.queue.as_str(), job.priority), ("test-id", "default", 0));
        assert_eq!(job.state, JobState::Other("sleeping".to_owned()));
        assert_eq!(job.args.as_str(), "[1.0,1e3]");
        assert_eq!(job.attribute("x_own").unwrap().as_str(), r#"{"a":1}"#);
        assert_eq!(job.result.unwrap().as_str(), "0");
        assert_eq!(JobState::from("dead"), JobState::Discarded);
        assert!(Job::parse(Bytes::from_static(b"[]")).is_err());
    }

    #[test]
    fn arguments_fit_tuples_structs_and_lists() {
        #[derive(Debug, PartialEq, Deserialize)]
        struct Email {
            to: String,
        }
        let read = |text: &'static str| read_args::<Email>(text.as_bytes());
        assert_eq!(read(r#"[{"to":"a"}]"#).unwrap(), Email { to: "a".into() });
        assert_eq!(read(r#"["a"]"#).unwrap(), Email { to: "a".into() });
        assert_eq!(read_args::<(String, u8)>(br#"["a",1]"#).unwrap(), ("a".to_owned(), 1));
        assert_eq!(read_args::<Vec<serde_json::Value>>(br#"[{"to":"a"}]"#).unwrap().len(), 1);
        assert!(read(r#"[1]"#).is_err());
    }

    #[test]
    fn debug_output_hides_arguments() {
        let job = Job::parse(Bytes::from_static(br#"{"id":"x","args":["secret"]}"#)).unwrap();
        assert!(!format!("{job:?}").contains("secret"));
    }
}
