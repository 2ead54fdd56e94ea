//! The error object of a failed attempt: what a nack carries and a job's history keeps (protocol sections 4.6, 7.6).
use serde_json::{Map, Value, json};

use crate::error::OjsError;
use crate::limits::{MAX_BACKTRACE_CHARS, MAX_BACKTRACE_FRAMES, MAX_META_BYTES, MAX_NAME_BYTES};
use crate::time::Timestamp;

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq)]
pub struct JobError {
    /// Machine-readable; `handler_error` when the worker named none.
    pub code: String,
    /// For people; never empty.
    pub message: String,
    /// The error's type: `type`, else `details.error_class`, else `code`.
    pub kind: String,
    /// False ends the job.
    pub retryable: bool,
    /// Anything the worker added.
    pub details: Option<Value>,
    /// Stack frames, innermost first as the worker sent them.
    pub backtrace: Vec<String>,
    /// For time-outs: which.
    pub timeout_kind: Option<TimeoutKind>,
    /// For time-outs: milliseconds allowed and milliseconds taken.
    pub timeout_ms: Option<(u64, u64)>,
    /// Nothing that shares the job's rate-limit key shall start before then.
    pub rate_limit_until: Option<Timestamp>,
}

impl JobError {
    /// An error that the engine itself records.
    #[must_use]
    pub fn engine(code: crate::ErrorCode, message: impl Into<String>) -> Self {
        let entry = code.entry();
        Self {
            code: entry.wire.to_owned(),
            message: message.into(),
            kind: entry.wire.to_owned(),
            retryable: entry.retryable,
            details: None,
            backtrace: Vec::new(),
            timeout_kind: None,
            timeout_ms: None,
            rate_limit_until: None,
        }
    }

    /// A time-out that the engine records: its kind, and the milliseconds allowed and taken.
    #[must_use]
    pub fn timed_out(kind: TimeoutKind, limit_ms: u64, elapsed_ms: u64) -> Self {
        Self {
            code: kind.code().to_owned(),
            kind: kind.code().to_owned(),
            retryable: matches!(kind, TimeoutKind::Execution | TimeoutKind::Stalled),
            timeout_kind: Some(kind),
            timeout_ms: Some((limit_ms, elapsed_ms)),
            ..Self::engine(crate::ErrorCode::Timeout, kind.message(limit_ms))
        }
    }

    /// Reads the `error` member of a nack (protocol section 4.6).
    ///
    /// Exceptions with an empty text are common, and a refused nack would keep the job from its retry until the lease
    /// ends: an empty or missing `message` is replaced by the most telling name that the object has.
    ///
    /// # Errors
    /// 400 `invalid_payload` when it is not an object, when it names nothing at all, or when `retryable` is no boolean.
    pub fn parse(value: &Value) -> Result<Self, OjsError> {
        let object = value
            .as_object()
            .ok_or_else(|| OjsError::invalid_field("error", "error is required and must be an object with code and message."))?;
        let text = |key: &str| object.get(key).and_then(Value::as_str).filter(|s| !s.is_empty());
        let details = object.get("details").filter(|d| !d.is_null());
        let class = details.and_then(|d| d.get("error_class")).and_then(Value::as_str).filter(|s| !s.is_empty());
        let message = text("message").or(text("type")).or(class).or(text("code"));
        let Some(message) = message else {
            return Err(OjsError::invalid_field("error.message", "error.message is required and must be a non-empty string."));
        };
        let retryable = match object.get("retryable") {
            None | Some(Value::Null) => true,
            Some(Value::Bool(b)) => *b,
            Some(_) => return Err(OjsError::invalid_field("error.retryable", "error.retryable must be true or false.")),
        };
        let code = text("code").unwrap_or("handler_error");
        Ok(Self {
            code: name(code),
            message: truncate(message, MAX_BACKTRACE_CHARS),
            kind: name(text("type").or(class).unwrap_or(code)),
            retryable,
            backtrace: backtrace(object),
            details: details.map(bounded),
            timeout_kind: None,
            timeout_ms: None,
            rate_limit_until: rate_limit_until(object, details)?,
        })
    }

    /// The stored form, an entry of `errors[]`.
    #[must_use]
    pub fn to_entry(&self, attempt: u32, occurred_at: Timestamp) -> Value {
        let mut entry = json!({
            "attempt": attempt, "type": self.kind, "code": self.code, "message": self.message,
            "retryable": self.retryable, "occurred_at": occurred_at.to_string(),
        });
        if let Some(object) = entry.as_object_mut() {
            if let Some(details) = &self.details {
                object.insert("details".into(), details.clone());
            }
            if !self.backtrace.is_empty() {
                object.insert("backtrace".into(), json!(self.backtrace));
            }
            if let Some(kind) = self.timeout_kind {
                object.insert("timeout_kind".into(), json!(kind.as_str()));
            }
            if let Some((limit, elapsed)) = self.timeout_ms {
                object.insert("limit_seconds".into(), as_seconds(limit));
                object.insert("elapsed_seconds".into(), as_seconds(elapsed));
            }
        }
        entry
    }
}

/// Which of a job's time-outs passed (protocol section 5.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutKind {
    /// One attempt took longer than `timeout`.
    Execution,
    /// The whole life took longer than `total_timeout`.
    Total,
    /// The first attempt did not start within `enqueue_ttl`.
    EnqueueTtl,
    /// The worker was silent for longer than `heartbeat_timeout`.
    Stalled,
}

impl TimeoutKind {
    /// `timeout_kind` on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Execution => "execution",
            Self::Total => "total",
            Self::EnqueueTtl => "enqueue_ttl",
            Self::Stalled => "stalled",
        }
    }

    /// `code` and `type` of the error.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Execution => "timeout",
            Self::Total => "total_timeout",
            Self::EnqueueTtl => "enqueue_ttl_expired",
            Self::Stalled => "stalled",
        }
    }

    fn message(self, limit_ms: u64) -> String {
        match self {
            Self::Execution => format!("The attempt ran longer than its timeout of {limit_ms} ms."),
            Self::Total => format!("The job was not done within its total_timeout of {limit_ms} ms."),
            Self::EnqueueTtl => format!("The job was not started within its enqueue_ttl of {limit_ms} ms."),
            Self::Stalled => format!("The worker sent no heartbeat for the job within its heartbeat_timeout of {limit_ms} ms."),
        }
    }
}

/// Milliseconds as a number of seconds, whole where they are.
#[must_use]
pub fn as_seconds(ms: u64) -> Value {
    if ms.is_multiple_of(1000) { json!(ms / 1000) } else { json!(ms as f64 / 1000.0) }
}

/// `backtrace` as an array, or `stack_trace` as one string; cut to the limits.
/// `rate_limit_until`, beside `code` or in `details`.
fn rate_limit_until(object: &Map<String, Value>, details: Option<&Value>) -> Result<Option<Timestamp>, OjsError> {
    let value = object.get("rate_limit_until").or_else(|| details?.get("rate_limit_until")).filter(|value| !value.is_null());
    let Some(value) = value else { return Ok(None) };
    value.as_str().and_then(|text| Timestamp::parse(text).ok()).map(Some).ok_or_else(|| {
        OjsError::invalid_field("error.rate_limit_until", "error.rate_limit_until must be an RFC 3339 time with a zone.")
    })
}

fn backtrace(object: &Map<String, Value>) -> Vec<String> {
    let frames: Vec<&str> = match (object.get("backtrace"), object.get("stack_trace")) {
        (Some(Value::Array(frames)), _) => frames.iter().filter_map(Value::as_str).collect(),
        (Some(Value::String(text)), _) | (_, Some(Value::String(text))) => text.lines().collect(),
        _ => Vec::new(),
    };
    let mut left = MAX_BACKTRACE_CHARS;
    let mut kept = Vec::new();
    for frame in frames.into_iter().take(MAX_BACKTRACE_FRAMES) {
        if left == 0 {
            break;
        }
        let frame = truncate(frame, left);
        left -= frame.chars().count().min(left);
        kept.push(frame);
    }
    kept
}

/// The name of a kind of error: cut, not refused, since a refused failure would keep the job from its retry.
fn name(text: &str) -> String {
    let mut end = text.len().min(MAX_NAME_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Details as they are, or how long they would have been.
fn bounded(details: &Value) -> Value {
    let bytes = details.to_string().len();
    if bytes <= MAX_META_BYTES { details.clone() } else { json!({"truncated": true, "bytes": bytes}) }
}

fn truncate(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}
