//! The job envelope: a request to enqueue, validated in the order of protocol section 1.4.
//!
//! Options may stand inside `options` or at the top level; `options` wins. What the client sent and the engine does not
//! interpret (`args`, `meta` values, unknown attributes) is kept as the text it came in, in [`NewJob::body`].
use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{ErrorCode, OjsError};
use crate::json::{self, push_bare, push_member, push_text, push_time};
use crate::limits::{MAX_ENVELOPE_BYTES, MAX_META_BYTES, MAX_QUEUE_BYTES, MAX_TYPE_BYTES, PRIORITY_RANGE};
use crate::{JobId, RetryPolicy, Timestamp};

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
    /// Discard when not started by then.
    pub expires_at: Option<Timestamp>,
    /// The job's own policy; `None` is the default one.
    pub retry: Option<RetryPolicy>,
    /// Milliseconds one attempt may run.
    pub timeout_ms: Option<u64>,
    /// Milliseconds of the lease.
    pub visibility_timeout_ms: Option<u64>,
    /// Milliseconds of soft stop after the execution time-out.
    pub grace_period_ms: Option<u64>,
    /// Milliseconds the whole life may take.
    pub total_timeout_ms: Option<u64>,
    /// Members of the envelope that never change, as JSON text without braces: `"specversion":"1.0","id":…,"args":…`.
    /// `queue`, `priority` and everything the system manages are added at rendering.
    pub body: String,
}

/// Attributes that the system manages: a client's values are ignored (protocol section 1.2).
const SYSTEM: &[&str] = &[
    "state", "attempt", "max_attempts", "created_at", "enqueued_at", "started_at", "completed_at", "cancelled_at",
    "discarded_at", "activated_at", "error", "errors", "result", "worker_id", "retry_delay_ms", "next_attempt_at",
    "next_retry_at", "parent_results", "workflow_id", "workflow_step", "result_stored_at", "result_expires_at",
    "result_size_bytes", "previous_state", "re_enqueued_at", "lease_token",
];

/// Attributes with a meaning that may stand at the top level or inside `options`.
const OPTIONS: &[&str] = &[
    "queue", "priority", "timeout", "timeout_ms", "scheduled_at", "delay_until", "expires_at", "retry", "retry_policy",
    "unique", "tags", "visibility_timeout", "visibility_timeout_ms", "pending", "rate_limit", "result_ttl",
    "total_timeout", "enqueue_ttl", "grace_period", "heartbeat_timeout",
];

/// The members of a JSON object, in order, values as text. The last of equal names wins.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::with_capacity(8);
                while let Some(Name(name)) = map.next_key()? {
                    let value = map.next_value()?;
                    match members.iter_mut().find(|(known, _)| *known == name) {
                        Some((_, earlier)) => *earlier = value,
                        None => members.push((name, value)),
                    }
                }
                Ok(Members(members))
            }
        }
        let mut parser = serde_json::Deserializer::from_str(text);
        let members = parser.deserialize_map(Collect)?;
        parser.end()?;
        Ok(members)
    }

    /// The value as text; null counts as absent.
    fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, raw)| raw.get()).filter(|text| *text != "null")
    }
}

/// A member name, borrowed where it holds no escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de> serde::Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member name")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

impl NewJob {
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
    /// 400 `invalid_payload` with `details.field`, 413 for sizes, 422 for a retry policy or an unknown `specversion`.
    /// The caller has run [`json::lint`] over the text.
    pub fn parse(text: &str, now: Timestamp) -> Result<Self, OjsError> {
        let top = Members::parse(text).map_err(|e| OjsError::new(ErrorCode::InvalidPayload, format!("The job is not a JSON object: {e}.")))?;
        if text.len() > MAX_ENVELOPE_BYTES {
            return Err(too_large(ErrorCode::PayloadTooLarge, "job", text.len(), MAX_ENVELOPE_BYTES));
        }
        check_version(&top)?;
        let job_type = job_type(&top)?;
        let args = args(&top)?;
        let id = id(&top)?;
        let options = match top.get("options") {
            None => Members(Vec::new()),
            Some(text) => Members::parse(text).map_err(|_| OjsError::invalid_field("options", "options must be an object."))?,
        };
        Reader { top, options, now }.read(id, job_type, args)
    }
}

/// Reads options from both placements.
struct Reader<'a> {
    top: Members<'a>,
    options: Members<'a>,
    now: Timestamp,
}

impl<'a> Reader<'a> {
    fn read(self, id: JobId, job_type: String, args: &str) -> Result<NewJob, OjsError> {
        let meta = self.meta()?;
        let queue = self.queue()?;
        let priority = self.priority()?;
        let pending = match self.option("pending") {
            None | Some("false") => false,
            Some("true") => true,
            Some(_) => return Err(OjsError::invalid_field("pending", "pending must be true or false.")),
        };
        let scheduled = match self.time("scheduled_at")? {
            Some(time) => Some(time),
            None => self.time("delay_until")?,
        };
        let expires = self.time("expires_at")?;
        let timeout_ms = match self.integer("timeout_ms", 0)? {
            Some(ms) => Some(ms),
            None => self.integer("timeout", 0)?.map(|s| s.saturating_mul(1000)),
        }
        .filter(|ms| *ms > 0);
        let visibility_timeout_ms = self.visibility()?;
        let total_timeout_ms = self.seconds("total_timeout", 1)?;
        let grace_period_ms = self.seconds("grace_period", 0)?;
        let tags = self.tags()?;
        let retry = self.retry()?;

        let mut body = String::with_capacity(args.len() + meta.len() + 160);
        push_text(&mut body, "specversion", crate::SPEC_VERSION);
        push_text(&mut body, "id", &id.to_string());
        push_text(&mut body, "type", &job_type);
        push_member(&mut body, "args", args);
        push_member(&mut body, "meta", &meta);
        if let Some(ms) = timeout_ms {
            push_bare(&mut body, "timeout_ms", ms);
            push_bare(&mut body, "timeout", ms.div_ceil(1000));
        }
        if let Some(ms) = visibility_timeout_ms {
            push_bare(&mut body, "visibility_timeout_ms", ms);
        }
        for (name, time) in [("scheduled_at", &scheduled), ("expires_at", &expires)] {
            match time {
                Some(When { text: Some(text), .. }) => push_text(&mut body, name, text),
                Some(When { at, text: None }) => push_time(&mut body, name, *at),
                None => {}
            }
        }
        push_member(&mut body, "tags", tags);
        if let Some(retry) = &retry {
            push_member(&mut body, "retry", &retry.to_value().to_string());
        }
        for name in ["unique", "rate_limit", "result_ttl", "total_timeout", "enqueue_ttl", "grace_period", "heartbeat_timeout"] {
            if let Some(raw) = self.option(name) {
                push_member(&mut body, name, raw);
            }
        }
        self.push_unknown(&mut body);
        Ok(NewJob {
            id,
            job_type,
            queue,
            priority,
            pending,
            scheduled_at: scheduled.map(|w| w.at),
            expires_at: expires.map(|w| w.at),
            retry,
            timeout_ms,
            visibility_timeout_ms,
            grace_period_ms,
            total_timeout_ms,
            body,
        })
    }

    /// The raw value of an option: from `options`, else from the top level.
    fn option(&self, name: &str) -> Option<&'a str> {
        self.options.get(name).or_else(|| self.top.get(name))
    }

    fn meta(&self) -> Result<Cow<'a, str>, OjsError> {
        let object = |name: &str, raw: &'a str| {
            Members::parse(raw).map_err(|_| OjsError::invalid_field(name, format!("{name} must be an object.")))
        };
        let top = self.top.get("meta").map(|raw| object("meta", raw).map(|m| (raw, m))).transpose()?;
        let nested = ["metadata", "meta"].iter().find_map(|name| self.options.get(name));
        let nested = nested.map(|raw| object("options.metadata", raw).map(|m| (raw, m))).transpose()?;
        let meta = match (top, nested) {
            (None, None) => Cow::Borrowed("{}"),
            (Some((raw, _)), None) | (None, Some((raw, _))) => Cow::Borrowed(raw),
            (Some((_, top)), Some((_, nested))) => {
                let mut merged = String::from("{");
                let inherited = nested.0.iter().filter(|(name, _)| !top.0.iter().any(|(own, _)| own == name));
                for (name, raw) in inherited.chain(&top.0) {
                    push_member(&mut merged, name, raw.get());
                }
                merged.push('}');
                Cow::Owned(merged)
            }
        };
        if meta.len() > MAX_META_BYTES {
            return Err(too_large(ErrorCode::MetadataTooLarge, "meta", meta.len(), MAX_META_BYTES));
        }
        Ok(meta)
    }

    fn queue(&self) -> Result<String, OjsError> {
        let Some(raw) = self.option("queue") else { return Ok("default".to_owned()) };
        let queue: String = serde_json::from_str(raw).map_err(|_| OjsError::invalid_field("queue", "queue must be a string."))?;
        check_queue(&queue)?;
        Ok(queue)
    }

    fn priority(&self) -> Result<i32, OjsError> {
        let Some(raw) = self.option("priority") else { return Ok(0) };
        let n: Option<i64> = serde_json::from_str(raw).ok();
        n.filter(|n| PRIORITY_RANGE.contains(n))
            .and_then(|n| i32::try_from(n).ok())
            .ok_or_else(|| OjsError::invalid_field("priority", format!("priority must be an integer from -100 to 100, got {raw}.")))
    }

    fn time(&self, name: &str) -> Result<Option<When>, OjsError> {
        let Some(raw) = self.option(name) else { return Ok(None) };
        let fault = || OjsError::invalid_field(name, format!("{name} must be an RFC 3339 time with a zone, or + and an ISO 8601 duration, got {raw}."));
        let text: String = serde_json::from_str(raw).map_err(|_| fault())?;
        let at = Timestamp::parse_from(&text, self.now).map_err(|_| fault())?;
        Ok(Some(When { at, text: (!text.starts_with('+')).then_some(text) }))
    }

    fn integer(&self, name: &str, min: u64) -> Result<Option<u64>, OjsError> {
        let Some(raw) = self.option(name) else { return Ok(None) };
        let n: Option<u64> = serde_json::from_str(raw).ok();
        let fault = || OjsError::invalid_field(name, format!("{name} must be an integer of at least {min}, got {raw}."));
        n.filter(|n| *n >= min).map(Some).ok_or_else(fault)
    }

    fn seconds(&self, name: &str, min: u64) -> Result<Option<u64>, OjsError> {
        Ok(self.integer(name, min)?.map(|s| s.saturating_mul(1000)))
    }

    /// `visibility_timeout_ms`, or `visibility_timeout` in seconds or as an ISO 8601 string.
    fn visibility(&self) -> Result<Option<u64>, OjsError> {
        if let Some(ms) = self.integer("visibility_timeout_ms", 1000)? {
            return Ok(Some(ms));
        }
        match self.option("visibility_timeout") {
            Some(raw) if raw.starts_with('"') => {
                let fault = || OjsError::invalid_field("visibility_timeout", format!("visibility_timeout must be seconds or an ISO 8601 duration of at least PT1S, got {raw}."));
                let text: String = serde_json::from_str(raw).map_err(|_| fault())?;
                let value = crate::duration::parse(&text).map_err(|_| fault())?;
                let ms = u64::try_from(value.as_millis()).map_err(|_| fault())?;
                if ms < 1000 { Err(fault()) } else { Ok(Some(ms)) }
            }
            _ => self.seconds("visibility_timeout", 1),
        }
    }

    fn tags(&self) -> Result<&'a str, OjsError> {
        let Some(raw) = self.option("tags") else { return Ok("[]") };
        let fault = || OjsError::invalid_field("tags", "tags must be an array of unique, non-empty strings.");
        let tags: Vec<String> = serde_json::from_str(raw).map_err(|_| fault())?;
        let unique: std::collections::HashSet<&String> = tags.iter().collect();
        if tags.iter().any(String::is_empty) || unique.len() != tags.len() { Err(fault()) } else { Ok(raw) }
    }

    fn retry(&self) -> Result<Option<RetryPolicy>, OjsError> {
        let Some(raw) = self.option("retry").or_else(|| self.option("retry_policy")) else { return Ok(None) };
        let value: Value = serde_json::from_str(raw).map_err(|_| OjsError::invalid_retry("policy", "must be an object"))?;
        RetryPolicy::parse(&value, &RetryPolicy::default()).map(Some)
    }

    /// Attributes nobody knows travel verbatim; unknown options stay inside an `options` remainder.
    fn push_unknown(&self, body: &mut String) {
        const DEFINED: &[&str] = &["specversion", "id", "type", "args", "meta", "options"];
        for (name, raw) in &self.top.0 {
            let name = name.as_ref();
            if !DEFINED.contains(&name) && !OPTIONS.contains(&name) && !SYSTEM.contains(&name) {
                push_member(body, name, raw.get());
            }
        }
        let mut rest = String::from("{");
        for (name, raw) in &self.options.0 {
            let name = name.as_ref();
            if !OPTIONS.contains(&name) && !matches!(name, "metadata" | "meta") {
                push_member(&mut rest, name, raw.get());
            }
        }
        if rest.len() > 1 {
            rest.push('}');
            push_member(body, "options", &rest);
        }
    }
}

/// A time, with the client's own spelling when it was absolute.
struct When {
    at: Timestamp,
    text: Option<String>,
}

fn check_version(top: &Members<'_>) -> Result<(), OjsError> {
    match top.get("specversion") {
        None | Some("\"1.0\"") => Ok(()),
        Some(other) => Err(OjsError::invalid_field("specversion", format!("specversion must be \"1.0\", got {other}."))),
    }
}

fn job_type(top: &Members<'_>) -> Result<String, OjsError> {
    let raw = top.get("type").ok_or_else(|| OjsError::invalid_field("type", "type is required: a string such as \"email.send\"."))?;
    let text: String = serde_json::from_str(raw).map_err(|_| OjsError::invalid_field("type", "type must be a string."))?;
    check_type(&text)?;
    Ok(text)
}

fn args<'a>(top: &Members<'a>) -> Result<&'a str, OjsError> {
    match top.get("args") {
        Some(raw) if raw.starts_with('[') => Ok(raw),
        Some(_) => Err(OjsError::invalid_field("args", "args must be a JSON array; wrap a single value: [value].")),
        None => Err(OjsError::invalid_field("args", "args is required and must be a JSON array; it may be empty.")),
    }
}

fn id(top: &Members<'_>) -> Result<JobId, OjsError> {
    let Some(raw) = top.get("id") else { return Ok(JobId::now_v7()) };
    let text: Option<String> = serde_json::from_str(raw).ok();
    text.and_then(|t| t.parse().ok())
        .ok_or_else(|| OjsError::invalid_field("id", format!("id must be a lowercase UUIDv7, got {raw}.")))
}

/// Checks a job type: dot-separated words of lowercase letters, digits, `_`, `-`, each starting with a letter.
///
/// # Errors
/// 400 `invalid_payload`, field `type`.
pub fn check_type(text: &str) -> Result<(), OjsError> {
    let segment = |s: &str| {
        s.starts_with(|c: char| c.is_ascii_lowercase())
            && s.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-')
    };
    if text.len() <= MAX_TYPE_BYTES && text.split('.').all(segment) {
        return Ok(());
    }
    Err(OjsError::invalid_field(
        "type",
        format!("type must be lowercase words joined by dots (email.send), at most {MAX_TYPE_BYTES} bytes, got '{}'.", shorten(text)),
    ))
}

/// Checks a queue name: lowercase letters, digits, `-`, `.`, starting with a letter or digit.
///
/// # Errors
/// 400 `invalid_payload`, field `queue`.
pub fn check_queue(text: &str) -> Result<(), OjsError> {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let valid = text.len() <= MAX_QUEUE_BYTES
        && text.bytes().next().is_some_and(plain)
        && text.bytes().all(|b| plain(b) || b == b'-' || b == b'.');
    if valid {
        return Ok(());
    }
    Err(OjsError::invalid_field(
        "queue",
        format!("queue must be lowercase letters, digits, '-' and '.', starting with a letter or digit, at most {MAX_QUEUE_BYTES} bytes, got '{}'.", shorten(text)),
    ))
}

fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}

fn too_large(code: ErrorCode, field: &str, actual: usize, max: usize) -> OjsError {
    OjsError::new(code, format!("{field} has {actual} bytes; the limit is {max}."))
        .with_details(serde_json::json!({"field": field, "actual_bytes": actual, "max_bytes": max}))
}

/// Checks a request body and returns it as text, or the 400 that describes the fault.
///
/// # Errors
/// 400 `invalid_payload` for encoding, depth and surrogate faults.
pub fn check_body(body: &[u8]) -> Result<&str, OjsError> {
    json::lint(body).map_err(|fault| OjsError::new(ErrorCode::InvalidPayload, format!("The {fault}.")))
}
