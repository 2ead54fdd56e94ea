//! The job envelope: a request to enqueue, validated in the order of protocol section 1.4.
//!
//! Options may stand inside `options` or at the top level; `options` wins. What the client sent and the engine does not
//! interpret (`args`, `meta` values, unknown attributes) is kept as the text it came in, in [`NewJob::body`].
mod batch;
mod check;
mod fields;
mod hints;
mod reader;
mod signature;
mod tenant;

use crate::error::{ErrorCode, OjsError};
use crate::limits::MAX_ENVELOPE_BYTES;
use crate::rate_limit::RateLimit;
use crate::version::{Version, split_type};
use crate::{JobId, RetryPolicy, Timestamp, Train, UniquePolicy, json};

pub use batch::split_batch;
pub(crate) use check::shorten;
use check::too_large;
pub use check::{check_delay_ms, check_lease_ms, check_name, check_queue, check_type};
use fields::{Field, Members, Place};
use reader::Reader;
pub use signature::{sign_request, signature};
pub use tenant::{DEFAULT_TENANT, TENANT_ID, check_tenant, tenant_in};

/// The member of a job that names the key which enqueued it; the server writes it.
pub const ENQUEUED_BY: &str = "enqueued_by";

/// A validated job, not yet stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    /// The client's id, or a fresh one.
    pub id: JobId,
    /// Dot-separated type.
    pub job_type: String,
    /// Target queue.
    pub queue: String,
    /// −100..=100, higher first.
    pub priority: i32,
    /// Start in `pending`, until activated.
    pub pending: bool,
    /// Not before this time.
    pub scheduled_at: Option<Timestamp>,
    /// Discard when not started by then: the earliest of `expires_at`, the end of `enqueue_ttl` and the end of `total_timeout`.
    pub expires_at: Option<Timestamp>,
    /// What makes it the same as another job, and what happens then.
    pub unique: Option<UniquePolicy>,
    /// The key whose limits it shares.
    pub rate_limit: Option<Box<RateLimit>>,
    /// Jobs per second that its queue hands out from now on.
    pub max_per_second: Option<f64>,
    /// The job's own policy; `None` is the default one.
    pub retry: Option<RetryPolicy>,
    /// The part of the policy that the client gave, and where its full form stands in `body`: a queue's defaults may still fill the rest.
    pub retry_given: Option<Box<GivenRetry>>,
    /// Milliseconds one attempt may run.
    pub timeout_ms: Option<u64>,
    /// Milliseconds of the lease.
    pub visibility_timeout_ms: Option<u64>,
    /// Milliseconds of soft stop after the execution time-out.
    pub grace_period_ms: Option<u64>,
    /// Milliseconds the whole life may take.
    pub total_timeout_ms: Option<u64>,
    /// Milliseconds from the moment the job may start to its first start.
    pub enqueue_ttl_ms: Option<u64>,
    /// Milliseconds that the worker may be silent about the job.
    pub heartbeat_timeout_ms: Option<u64>,
    /// Seconds the result is kept; 0 is not at all, -1 for ever.
    pub result_ttl: Option<i64>,
    /// The train that it is in. `meta` names it as well, which is where it comes back.
    pub train: Option<Box<Train>>,
    /// The version of its arguments (extensions section 14).
    pub version: Option<Version>,
    /// The key of its line in a queue that is shared by keys (extensions section 22).
    pub fairness_key: Option<Box<str>>,
    /// The trace that `meta` carries: `traceparent`, else `trace_id`.
    pub trace_id: Option<String>,
    /// The tenant that it belongs to; `None` for the default one.
    pub tenant: Option<Box<str>>,
    /// Name of the key that enqueued it.
    pub enqueued_by: Option<Box<str>>,
    /// That key has no business with jobs of other keys: it may not replace them.
    pub own_only: bool,
    /// What stands in `options` and has no meaning there: it is kept, and the client is told.
    pub warnings: Vec<String>,
    /// Members of the envelope that never change, as JSON text without braces: `"specversion":"1.0","id":…,"args":…`.
    /// `queue`, `priority` and everything the system manages are added at rendering.
    pub body: String,
}

/// A retry policy as the client sent it.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenRetry {
    /// What it named.
    pub value: serde_json::Value,
    /// The place of the full policy in [`NewJob::body`].
    pub place: std::ops::Range<usize>,
}

impl NewJob {
    /// Fills what the client left out with the defaults of a queue: a retry policy (its members one by one), and time-outs in
    /// milliseconds. What the client named stays.
    ///
    /// ```
    /// use ojs_model::{NewJob, Timestamp};
    /// let now = Timestamp::from_millis(0);
    /// let mut job = NewJob::parse(r#"{"type":"a","args":[],"options":{"retry":{"max_attempts":9}}}"#, now)?;
    /// job.fill_defaults(Some(&serde_json::json!({"max_attempts": 2, "jitter": false})), Some(5000), None)?;
    /// let retry = job.retry.unwrap_or_default();
    /// assert_eq!((retry.max_attempts, retry.jitter, job.timeout_ms), (9, false, Some(5000)));
    /// # Ok::<(), ojs_model::OjsError>(())
    /// ```
    ///
    /// # Errors
    /// 422 when the policy is not valid together with what the client named.
    pub fn fill_defaults(
        &mut self,
        retry: Option<&serde_json::Value>,
        timeout_ms: Option<u64>,
        visibility_timeout_ms: Option<u64>,
    ) -> Result<(), OjsError> {
        if let Some(defaults) = retry {
            self.fill_retry(defaults)?;
        }
        if let (None, Some(ms)) = (self.timeout_ms, timeout_ms) {
            self.timeout_ms = Some(ms);
            json::push_bare(&mut self.body, "timeout_ms", ms);
            json::push_bare(&mut self.body, "timeout", ms.div_ceil(1000));
        }
        if let (None, Some(ms)) = (self.visibility_timeout_ms, visibility_timeout_ms) {
            self.visibility_timeout_ms = Some(ms);
            json::push_bare(&mut self.body, "visibility_timeout_ms", ms);
        }
        Ok(())
    }

    /// Gives the job a version, when it has none. `json` is how its document shows the version: a string or a number.
    ///
    /// ```
    /// use ojs_model::{NewJob, Timestamp, version::Version};
    /// let mut job = NewJob::parse(r#"{"type":"a","args":[]}"#, Timestamp::from_millis(0))?;
    /// job.fill_version(&Version::parse("2.0")?, "\"2.0\"");
    /// assert!(job.body.ends_with(r#""version":"2.0""#));
    /// # Ok::<(), ojs_model::OjsError>(())
    /// ```
    pub fn fill_version(&mut self, version: &Version, json: &str) {
        if self.version.is_none() {
            self.version = Some(version.clone());
            json::push_member(&mut self.body, "version", json);
        }
    }

    /// Notes which key enqueues the job; once, before it is stored.
    ///
    /// ```
    /// use ojs_model::{NewJob, Timestamp};
    /// let mut job = NewJob::parse(r#"{"type":"a","args":[],"enqueued_by":"forged"}"#, Timestamp::from_millis(0))?;
    /// job.sign("shop", true);
    /// assert_eq!(job.body.matches("enqueued_by").count(), 1);
    /// assert!(job.body.ends_with(r#""enqueued_by":"shop""#));
    /// # Ok::<(), ojs_model::OjsError>(())
    /// ```
    pub fn sign(&mut self, key: &str, own_only: bool) {
        self.enqueued_by = Some(key.into());
        self.own_only = own_only;
        json::push_text(&mut self.body, ENQUEUED_BY, key);
    }

    fn fill_retry(&mut self, defaults: &serde_json::Value) -> Result<(), OjsError> {
        let defaults = RetryPolicy::parse(defaults, &RetryPolicy::default())?;
        let mut text = String::new();
        match self.retry_given.take() {
            Some(given) => {
                let policy = RetryPolicy::parse(&given.value, &defaults)?;
                policy.push_json(&mut text);
                if self.body.get(given.place.clone()).is_some() {
                    self.body.replace_range(given.place, &text);
                }
                self.retry = Some(policy);
            }
            // Filled before.
            None if self.retry.is_some() => {}
            None => {
                defaults.push_json(&mut text);
                json::push_member(&mut self.body, "retry", &text);
                self.retry = Some(defaults);
            }
        }
        Ok(())
    }

    /// The same job at another time; `text` is how its document shows that time (RFC 3339). Queue defaults are filled before, not after.
    ///
    /// ```
    /// use ojs_model::{NewJob, Timestamp};
    /// let now = Timestamp::from_millis(0);
    /// let job = NewJob::parse(r#"{"type":"a","args":[],"options":{"delay_until":"+PT1H"}}"#, now)?;
    /// let moved = job.moved_to(Timestamp::parse("2026-01-01T00:00:00Z").unwrap(), "2026-01-01T00:00:00Z");
    /// assert!(moved.body.ends_with(r#","scheduled_at":"2026-01-01T00:00:00Z""#));
    /// assert_eq!(moved.body.matches("scheduled_at").count(), 1);
    /// # Ok::<(), ojs_model::OjsError>(())
    /// ```
    #[must_use]
    pub fn moved_to(&self, at: Timestamp, text: &str) -> Self {
        let mut job = self.clone();
        let whole = format!("{{{}}}", self.body);
        // The body is a document of our own making: it always has members.
        if let Ok(members) = json::members(&whole) {
            job.body.clear();
            for (name, raw) in members.iter().filter(|(name, _)| name != "scheduled_at") {
                json::push_member(&mut job.body, name, raw);
            }
        }
        json::push_text(&mut job.body, "scheduled_at", text);
        // Its place in the body is another one now.
        job.retry_given = None;
        job.scheduled_at = Some(at);
        job
    }

    /// Reads one enqueue request. `now` is the time of receipt: relative times count from it.
    ///
    /// ```
    /// use ojs_model::{NewJob, Timestamp};
    /// let job = NewJob::parse(r#"{"type":"email.send","args":[1.0],"options":{"queue":"mail"}}"#, Timestamp::from_millis(0))?;
    /// assert_eq!((job.queue.as_str(), job.priority), ("mail", 0));
    /// assert!(job.body.contains(r#""args":[1.0]"#));
    /// # Ok::<(), ojs_model::OjsError>(())
    /// ```
    ///
    /// # Errors
    /// 400 `invalid_payload` with `details.field`, 413 for sizes, 422 for a retry policy.
    /// The caller has run [`check_body`] over the text.
    pub fn parse(text: &str, now: Timestamp) -> Result<Self, OjsError> {
        Self::parse_from(text, now, None)
    }

    /// The same for a job that came with a request whose client named it (`X-Request-ID`): `meta.request_id` says so, unless the
    /// client has used that name for something else, or `meta` is full (extensions section 1).
    ///
    /// ```
    /// use ojs_model::{NewJob, Timestamp};
    /// let job = NewJob::parse_from(r#"{"type":"a","args":[]}"#, Timestamp::from_millis(0), Some("req-7"))?;
    /// assert!(job.body.contains(r#""meta":{"request_id":"req-7"}"#));
    /// # Ok::<(), ojs_model::OjsError>(())
    /// ```
    ///
    /// # Errors
    /// As [`NewJob::parse`].
    pub fn parse_from(text: &str, now: Timestamp, request_id: Option<&str>) -> Result<Self, OjsError> {
        Self::parse_of(text, now, request_id, None)
    }

    /// The same for a job that came from a caller of a tenant: `meta.tenant_id` says so, and may say nothing else.
    ///
    /// ```
    /// use ojs_model::{NewJob, Timestamp};
    /// let job = NewJob::parse_of(r#"{"type":"a","args":[]}"#, Timestamp::from_millis(0), None, Some("acme"))?;
    /// assert_eq!(job.tenant.as_deref(), Some("acme"));
    /// assert!(job.body.contains(r#""meta":{"tenant_id":"acme"}"#));
    /// let other = r#"{"type":"a","args":[],"meta":{"tenant_id":"blog"}}"#;
    /// assert!(NewJob::parse_of(other, Timestamp::from_millis(0), None, Some("acme")).is_err());
    /// # Ok::<(), ojs_model::OjsError>(())
    /// ```
    ///
    /// # Errors
    /// As [`NewJob::parse`]; 400 `invalid_payload` with the field `meta.tenant_id` when it is of another tenant.
    pub fn parse_of(text: &str, now: Timestamp, request_id: Option<&str>, tenant: Option<&str>) -> Result<Self, OjsError> {
        let top = Members::parse(text, Place::Top).map_err(|e| {
            OjsError::new(ErrorCode::InvalidPayload, format!("The job is not a JSON object: {}.", json::describe(&e)))
        })?;
        if text.len() > MAX_ENVELOPE_BYTES {
            return Err(too_large(ErrorCode::PayloadTooLarge, "job", text.len(), MAX_ENVELOPE_BYTES));
        }
        check_version(&top)?;
        let (job_type, suffix) = job_type(&top)?;
        let args = args(&top)?;
        let id = id(&top)?;
        let options = match top.get(Field::Options) {
            None => Members::none(),
            Some(text) => Members::parse(text, Place::Options)
                .map_err(|_| OjsError::invalid_field("options", "options must be an object."))?,
        };
        Reader { top, options, now, request_id, suffix, tenant }.read(id, job_type, args, text.len())
    }
}

/// The members of an object; see [`json::members`].
pub(crate) fn members(text: &str) -> Result<Vec<(std::borrow::Cow<'_, str>, &str)>, serde_json::Error> {
    Ok(Members::parse(text, Place::Free)?.rest)
}

fn check_version(top: &Members<'_>) -> Result<(), OjsError> {
    match top.get(Field::Specversion) {
        None | Some("\"1.0\"") => Ok(()),
        // The SDKs of the release candidates say "1.0.0-rc.1"; only major and minor are carried (protocol section 1.1).
        Some(other) if other.starts_with("\"1.0.") => Ok(()),
        Some(other) => {
            Err(OjsError::invalid_field("specversion", format!("specversion must be \"1.0\", got {}.", shorten(other))))
        }
    }
}

/// The job type, and the version that stands behind an `@` (extensions section 14).
fn job_type(top: &Members<'_>) -> Result<(String, Option<String>), OjsError> {
    let raw = top
        .get(Field::Type)
        .ok_or_else(|| OjsError::invalid_field("type", "type is required: a string such as \"email.send\"."))?;
    let text = json::string(raw).ok_or_else(|| OjsError::invalid_field("type", "type must be a string."))?;
    let (name, version) = split_type(&text);
    check_type(name)?;
    if version.is_some_and(|version| Version::parse(version).is_err()) {
        let message = "type may end with a version behind an @, one to three whole numbers below 1000000: email.send@2.0.";
        return Err(OjsError::invalid_field("type", message));
    }
    Ok((name.to_owned(), version.map(str::to_owned)))
}

fn args<'a>(top: &Members<'a>) -> Result<&'a str, OjsError> {
    match top.get(Field::Args) {
        Some(raw) if raw.starts_with('[') => Ok(raw),
        Some(_) => Err(OjsError::invalid_field("args", "args must be a JSON array; wrap a single value: [value].")),
        None => Err(OjsError::invalid_field("args", "args is required and must be a JSON array; it may be empty.")),
    }
}

fn id(top: &Members<'_>) -> Result<JobId, OjsError> {
    let Some(raw) = top.get(Field::Id) else { return Ok(JobId::now_v7()) };
    json::string(raw)
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| OjsError::invalid_field("id", format!("id must be a lowercase UUIDv7, got {}.", shorten(raw))))
}

/// Checks a request body and returns it as text, or the 400 that describes the fault.
///
/// # Errors
/// 400 `invalid_payload` for encoding, depth and surrogate faults.
pub fn check_body(body: &[u8]) -> Result<&str, OjsError> {
    json::lint(body).map_err(|fault| OjsError::new(ErrorCode::InvalidPayload, format!("The {fault}.")))
}
