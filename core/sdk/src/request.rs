//! A job to be enqueued: type, arguments, options; and its wire form ("Implement an SDK").
use std::fmt;
use std::time::{Duration, SystemTime};

use ojs_model::Timestamp;
use ojs_model::json::{push_bare, push_member, push_text};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::json::Json;
use crate::options;
use crate::policy::{RetryPolicy, Train, UniquePolicy};
use crate::strict;

/// A point in time for scheduling and expiry.
#[derive(Debug, Clone, PartialEq)]
pub struct When(String);

impl When {
    /// As it is sent.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl From<SystemTime> for When {
    fn from(time: SystemTime) -> Self {
        let millis = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
            Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
        };
        Self::from(Timestamp::from_millis(millis))
    }
}

impl From<Timestamp> for When {
    fn from(time: Timestamp) -> Self {
        Self(time.to_string())
    }
}

/// RFC 3339, or `+PT5S` relative to the server's clock; sent as it is.
impl From<&str> for When {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// As from `&str`.
impl From<String> for When {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// A job to be enqueued. Enqueue middleware may change every field; the id stays.
///
/// ```
/// use ojs::JobRequest;
/// let request = JobRequest::new("email.send", "a@example.com").queue("mail").priority(10);
/// assert_eq!(request.to_json()?, r#"{"type":"email.send","args":["a@example.com"],"options":{"queue":"mail","priority":10}}"#);
/// # Ok::<(), ojs::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
#[must_use]
pub struct JobRequest {
    /// Dot-separated type.
    pub job_type: String,
    /// The arguments: an array.
    pub args: Json,
    /// The metadata.
    pub meta: Map<String, Value>,
    /// URI of the schema of the arguments.
    pub schema: Option<String>,
    /// The version of the arguments.
    pub version: Option<String>,
    /// Target queue; `default` is not sent.
    pub queue: String,
    /// −100..=100, higher first; 0 is not sent.
    pub priority: i32,
    /// Not before this time.
    pub delay_until: Option<When>,
    /// Discarded when not started by then.
    pub expires_at: Option<When>,
    /// How long one attempt may run.
    pub timeout: Option<Duration>,
    /// Length of the lease.
    pub visibility_timeout: Option<Duration>,
    /// Staged until it is activated.
    pub pending: bool,
    /// Labels.
    pub tags: Vec<String>,
    /// How it is retried.
    pub retry: Option<RetryPolicy>,
    /// What it must not be a duplicate of.
    pub unique: Option<UniquePolicy>,
    /// The train that it joins.
    pub train: Option<Train>,
    /// Further options by their wire names.
    pub more_options: Map<String, Value>,
    pub(crate) id: Option<String>,
    /// The program has named the queue, or the priority: what is named wins over the defaults of the type, also when it is the usual value.
    pub(crate) named_queue: bool,
    pub(crate) named_priority: bool,
    /// Arguments that could not be written: reported when the job is sent, so that building never fails.
    fault: Option<Error>,
}

impl fmt::Debug for JobRequest {
    /// Of arguments and metadata the size only: they must not slip into logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let meta = format_args!("{} members", self.meta.len());
        let mut shown = f.debug_struct("JobRequest");
        shown.field("job_type", &self.job_type).field("args", &self.args).field("meta", &meta);
        shown.field("queue", &self.queue).field("priority", &self.priority).finish_non_exhaustive()
    }
}

impl JobRequest {
    /// A job with default options. `args` becomes an array: a tuple, list or array as it is, `()` as none, any other
    /// value as the only element.
    pub fn new(job_type: impl Into<String>, args: impl Serialize) -> Self {
        let (args, fault) = match arguments(&args) {
            Ok(args) => (args, None),
            Err(error) => (Json::empty_array(), Some(error)),
        };
        Self {
            job_type: job_type.into(),
            args,
            meta: Map::new(),
            schema: None,
            version: None,
            queue: "default".to_owned(),
            priority: 0,
            delay_until: None,
            expires_at: None,
            timeout: None,
            visibility_timeout: None,
            pending: false,
            tags: Vec::new(),
            retry: None,
            unique: None,
            train: None,
            more_options: Map::new(),
            id: None,
            named_queue: false,
            named_priority: false,
            fault,
        }
    }

    /// The id the job will have; `None` when the server makes one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Gives the job an id of your own, a lowercase UUIDv7: enqueueing it twice makes one job.
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Replaces the arguments, by the rules of [`new`](Self::new).
    ///
    /// # Errors
    /// [`Error::Serialization`] when they cannot be written as JSON.
    pub fn set_args(&mut self, args: impl Serialize) -> Result<(), Error> {
        self.args = arguments(&args)?;
        Ok(())
    }

    /// The wire form: `{type, args}`, then only what differs from the defaults, options under `options`.
    ///
    /// # Errors
    /// [`Error::Serialization`] when the arguments could not be written as JSON.
    pub fn to_json(&self) -> Result<String, Error> {
        let mut out = String::with_capacity(64 + self.args.as_bytes().len());
        self.push_json(&mut out)?;
        Ok(out)
    }

    /// Requests as a JSON array.
    pub(crate) fn list_json(requests: &[Self]) -> Result<String, Error> {
        let mut out = String::from("[");
        for request in requests {
            if out.len() > 1 {
                out.push(',');
            }
            request.push_json(&mut out)?;
        }
        out.push(']');
        Ok(out)
    }

    fn push_json(&self, out: &mut String) -> Result<(), Error> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        // `push_member` looks at the end of the text for a comma: each object is begun on its own.
        out.push('{');
        push_text(out, "type", &self.job_type);
        push_member(out, "args", self.args.as_str());
        if let Some(id) = &self.id {
            push_text(out, "id", id);
        }
        if !self.meta.is_empty() {
            push_member(out, "meta", &write(&self.meta)?);
        }
        if let Some(schema) = &self.schema {
            push_text(out, "schema", schema);
        }
        if let Some(version) = &self.version {
            push_text(out, "version", version);
        }
        let options = self.options()?;
        if options.len() > 1 {
            push_member(out, "options", &options);
            out.push('}');
        }
        out.push('}');
        Ok(())
    }

    /// The options as a JSON object.
    pub(crate) fn options_json(&self) -> Result<String, Error> {
        Ok(self.options()? + "}")
    }

    /// The options without the closing brace; just `{` when there are none.
    fn options(&self) -> Result<String, Error> {
        let mut out = String::from("{");
        let has_defaults = options::defaults::any(&self.job_type);
        if self.queue != "default" || (self.named_queue && has_defaults) {
            push_text(&mut out, "queue", &self.queue);
        }
        if self.priority != 0 || (self.named_priority && has_defaults) {
            push_bare(&mut out, "priority", self.priority);
        }
        if let Some(timeout) = self.timeout {
            push_bare(&mut out, "timeout_ms", timeout.as_millis());
        }
        if let Some(When(time)) = &self.delay_until {
            push_text(&mut out, "delay_until", time);
        }
        if let Some(When(time)) = &self.expires_at {
            push_text(&mut out, "expires_at", time);
        }
        if let Some(lease) = self.visibility_timeout {
            push_bare(&mut out, "visibility_timeout_ms", lease.as_millis());
        }
        if self.pending {
            push_bare(&mut out, "pending", true);
        }
        if !self.tags.is_empty() {
            push_member(&mut out, "tags", &write(&self.tags)?);
        }
        if let Some(retry) = &self.retry {
            push_member(&mut out, "retry", &retry.to_value().to_string());
        }
        if let Some(unique) = &self.unique {
            push_member(&mut out, "unique", &unique.to_value().to_string());
        }
        if let Some(train) = &self.train {
            push_member(&mut out, "train", &train.to_value().to_string());
        }
        for (name, value) in &self.more_options {
            push_member(&mut out, name, &value.to_string());
        }
        Ok(out)
    }
}

fn write<T: Serialize>(value: &T) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|e| Error::json("job", e))
}

/// Arguments are an array on the wire, whatever the caller passed.
fn arguments(args: &impl Serialize) -> Result<Json, Error> {
    strict::check(args).map_err(|unfit| Error::json("job", unfit.among_args()))?;
    let args = Json::written("job", args)?;
    if args.is_array() {
        return Ok(args);
    }
    if args.is_null() {
        return Ok(Json::empty_array());
    }
    Ok(Json::parsed(format!("[{}]", args.as_str()).into()))
}

/// The setters of options: for whatever has a request in it.
macro_rules! job_option_setters {
    ($($part:tt)+) => {
        /// Target queue.
        pub fn queue(mut self, queue: impl Into<String>) -> Self {
            let request = &mut self.$($part)+;
            (request.queue, request.named_queue) = (queue.into(), true);
            self
        }

        /// −100..=100, higher first.
        pub fn priority(mut self, priority: i32) -> Self {
            let request = &mut self.$($part)+;
            (request.priority, request.named_priority) = (priority, true);
            self
        }

        /// Runs after this time from now, by this machine's clock.
        pub fn delay(self, delay: std::time::Duration) -> Self {
            self.delay_until(std::time::SystemTime::now() + delay)
        }

        /// Runs not before this time.
        pub fn delay_until(mut self, time: impl Into<$crate::When>) -> Self {
            self.$($part)+.delay_until = Some(time.into());
            self
        }

        /// The same as [`delay_until`](Self::delay_until), under the name of the envelope's attribute.
        pub fn scheduled_at(self, time: impl Into<$crate::When>) -> Self {
            self.delay_until(time)
        }

        /// Discarded when not started by then.
        pub fn expires_at(mut self, time: impl Into<$crate::When>) -> Self {
            self.$($part)+.expires_at = Some(time.into());
            self
        }

        /// How long one attempt may run.
        pub fn timeout(mut self, timeout: std::time::Duration) -> Self {
            self.$($part)+.timeout = Some(timeout);
            self
        }

        /// Length of the lease, where the worker asks for none.
        pub fn visibility_timeout(mut self, lease: std::time::Duration) -> Self {
            self.$($part)+.visibility_timeout = Some(lease);
            self
        }

        /// Staged until [`Client::activate`](crate::Client::activate).
        pub fn pending(mut self) -> Self {
            self.$($part)+.pending = true;
            self
        }

        /// How it is retried.
        pub fn retry(mut self, policy: $crate::RetryPolicy) -> Self {
            self.$($part)+.retry = Some(policy);
            self
        }

        /// What it must not be a duplicate of.
        pub fn unique(mut self, policy: $crate::UniquePolicy) -> Self {
            self.$($part)+.unique = Some(policy);
            self
        }

        /// The train that it joins: the jobs of one train run one after the other, in the order in which they were
        /// stored. An id such as `"dest_123"`, or a [`Train`](crate::Train) that also says what happens when the job is
        /// cancelled or discarded.
        pub fn train(mut self, train: impl Into<$crate::Train>) -> Self {
            self.$($part)+.train = Some(train.into());
            self
        }

        /// Labels.
        pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
            self.$($part)+.tags = tags.into_iter().map(Into::into).collect();
            self
        }

        /// How many of its kind may start or run at a time: a JSON object, such as `json!({"key": "smtp", "rate": {"limit": 10, "period":
        /// "PT1S"}})`.
        pub fn rate_limit(mut self, limit: impl Into<serde_json::Value>) -> Self {
            self.$($part)+.more_options.insert("rate_limit".to_owned(), limit.into());
            self
        }

        /// The key of its line in a queue that is shared by keys: keys get jobs handed out in turn.
        pub fn fairness_key(mut self, key: impl Into<String>) -> Self {
            self.$($part)+.more_options.insert("fairness_key".to_owned(), serde_json::Value::String(key.into()));
            self
        }

        /// Any other option by its wire name, such as `result_ttl`. Names of your own begin with `x_`.
        pub fn option(mut self, name: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
            self.$($part)+.more_options.insert(name.into(), value.into());
            self
        }
    };
}
pub(crate) use job_option_setters;

/// The setters, for the request itself and for the call that sends it.
macro_rules! option_setters {
    ($($part:tt)+) => {
        $crate::request::job_option_setters!($($part)+);

        /// Adds one entry to the metadata.
        pub fn meta(mut self, name: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
            self.$($part)+.meta.insert(name.into(), value.into());
            self
        }

        /// The tenant that the job belongs to: `meta.tenant_id`.
        pub fn tenant(self, id: impl Into<String>) -> Self {
            self.meta(ojs_model::envelope::TENANT_ID, id.into())
        }

        /// URI of the schema of the arguments.
        pub fn schema(mut self, uri: impl Into<String>) -> Self {
            self.$($part)+.schema = Some(uri.into());
            self
        }

        /// The version of the arguments, `2`, `2.1` or `2.1.0`: a server with job versioning hands the job to workers
        /// that run it.
        pub fn version(mut self, version: impl Into<String>) -> Self {
            self.$($part)+.version = Some(version.into());
            self
        }
    };
}
pub(crate) use option_setters;

impl JobRequest {
    fn itself(&mut self) -> &mut Self {
        self
    }

    option_setters!(itself());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plain_job_is_type_and_args() {
        for (args, text) in [
            (json!(["test"]), r#"["test"]"#),
            (json!({"to": "x"}), r#"[{"to":"x"}]"#),
            (json!("x"), r#"["x"]"#),
            (json!(null), "[]"),
            (json!(0), "[0]"),
        ] {
            assert_eq!(
                JobRequest::new("email.send", args).to_json().unwrap(),
                format!(r#"{{"type":"email.send","args":{text}}}"#)
            );
        }
        assert_eq!(JobRequest::new("t", ("a", 1.5)).to_json().unwrap(), r#"{"type":"t","args":["a",1.5]}"#);
        assert_eq!(JobRequest::new("t", ()).to_json().unwrap(), r#"{"type":"t","args":[]}"#);
    }

    #[test]
    fn defaults_are_not_sent() {
        let request = JobRequest::new("t", ()).queue("default").priority(0).tags(Vec::<String>::new());
        assert_eq!(request.to_json().unwrap(), r#"{"type":"t","args":[]}"#);
    }

    #[test]
    fn options_go_under_options() {
        let request = JobRequest::new("t", [1])
            .queue("mail")
            .priority(-5)
            .timeout(Duration::from_secs(3))
            .delay_until("2026-03-15T09:30:00Z")
            .expires_at(Timestamp::from_millis(0))
            .visibility_timeout(Duration::from_secs(60))
            .pending()
            .tags(["a"])
            .retry(RetryPolicy::new().max_attempts(5))
            .unique(UniquePolicy::by(["type"]))
            .meta("k", "v")
            .option("result_ttl", 60);
        let body: Value = serde_json::from_str(&request.to_json().unwrap()).unwrap();
        assert_eq!(
            body,
            json!({"type": "t", "args": [1], "meta": {"k": "v"}, "options": {
                "queue": "mail", "priority": -5, "timeout_ms": 3000, "delay_until": "2026-03-15T09:30:00Z",
                "expires_at": "1970-01-01T00:00:00.000Z", "visibility_timeout_ms": 60000, "pending": true, "tags": ["a"],
                "retry": {"max_attempts": 5}, "unique": {"keys": ["type"], "key": ["type"]}, "result_ttl": 60,
            }})
        );
    }

    #[test]
    fn arguments_that_are_no_json_are_reported_when_sent() {
        let bad = std::collections::HashMap::from([((1, 2), 3)]);
        assert!(matches!(JobRequest::new("t", bad).to_json(), Err(Error::Serialization { .. })));
    }
}
