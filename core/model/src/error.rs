//! Structured errors: the body of every refusal, and the catalogue of codes (protocol section 4).
mod catalogue;

use std::borrow::Cow;

use serde_json::{Map, Value, json};

/// A code that a server sends or a client meets. The catalogue is [`ErrorCode::CATALOGUE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the catalogue gives number, name, status and meaning of each")]
#[non_exhaustive]
pub enum ErrorCode {
    InvalidPayload,
    InvalidRequest,
    ValidationError,
    SchemaValidation,
    NotFound,
    MethodNotAllowed,
    Conflict,
    Duplicate,
    ResultPruned,
    PayloadTooLarge,
    MetadataTooLarge,
    ResultTooLarge,
    BatchSizeExceeded,
    UnsupportedCompression,
    ChecksumMismatch,
    Unsupported,
    QueuePaused,
    RateLimited,
    QueueFull,
    RequestTimeout,
    InternalError,
    BackendError,
    BackendUnavailable,
    BackendTimeout,
    Unauthenticated,
    PermissionDenied,
    HandlerError,
    HandlerPanic,
    Timeout,
    NonRetryable,
    Cancelled,
    NoHandler,
    Shutdown,
    VisibilityTimeout,
    WorkerDeath,
    Expired,
    ConnectionError,
    SerializationError,
    ChainStepFailed,
    GroupTimeout,
    DependencyFailed,
    BatchCallbackFailed,
    MiddlewareError,
    MiddlewareTimeout,
}

/// One row of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct CatalogueEntry {
    /// The code.
    pub code: ErrorCode,
    /// The word on the wire.
    pub wire: &'static str,
    /// The number that SDKs show.
    pub numeric: &'static str,
    /// HTTP status; 0 for codes that only appear on jobs or in clients.
    pub status: u16,
    /// Whether trying again can help.
    pub retryable: bool,
    /// Other spellings met in documents and servers.
    pub aliases: &'static [&'static str],
    /// What to do next, when the raiser has nothing better to say.
    pub hint: &'static str,
}

impl ErrorCode {
    /// Every code with number, status, retryability, aliases and advice (protocol section 4.7).
    pub const CATALOGUE: &'static [CatalogueEntry] = catalogue::CATALOGUE;

    /// This code's row.
    #[must_use]
    pub fn entry(self) -> &'static CatalogueEntry {
        const INTERNAL: &CatalogueEntry =
            &catalogue::entry(ErrorCode::InternalError, "internal_error", "OJS-2004", 500, true, &[], "Try again.");
        Self::CATALOGUE.iter().find(|e| e.code == self).unwrap_or(INTERNAL)
    }

    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.entry().wire
    }

    /// Recognises every spelling in the catalogue, canonical names (`INVALID_QUEUE`) included; `None` for a custom code.
    #[must_use]
    pub fn recognise(word: &str) -> Option<Self> {
        let spelt = Self::CATALOGUE.iter().find(|e| e.wire == word || e.aliases.contains(&word)).map(|e| e.code);
        spelt.or_else(|| catalogue::CANONICAL.iter().find(|row| row.1 == word).map(|row| row.2))
    }

    /// The number of a word: `OJS-1002` for `INVALID_QUEUE`, `OJS-1000` for `invalid_payload`; `None` for a custom code.
    #[must_use]
    pub fn numeric(word: &str) -> Option<&'static str> {
        let canonical = catalogue::CANONICAL.iter().find(|row| row.1 == word).map(|row| row.0);
        canonical.or_else(|| Self::recognise(word).map(|code| code.entry().numeric))
    }
}

/// A refusal as it appears on the wire: code, message, whether a retry can help, details.
///
/// ```
/// use ojs_model::OjsError;
/// let error = OjsError::not_found("job", "42");
/// assert_eq!((error.status, error.code.as_ref(), error.retryable), (404, "not_found", false));
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct OjsError {
    /// For programs, in snake_case: a code from the catalogue, or a custom code that begins with `x_`.
    pub code: Cow<'static, str>,
    /// For people.
    pub message: String,
    /// Whether sending the same request again can succeed.
    pub retryable: bool,
    /// HTTP status; 0 when the error never was an HTTP answer.
    pub status: u16,
    /// Finer kind, where it differs from `code`: `validation_error`, `invalid_workflow`.
    pub kind: Option<Cow<'static, str>>,
    /// Structured context (protocol section 4.5).
    pub details: Option<Value>,
    /// What to do next.
    pub hint: Option<String>,
    /// The request that was refused, as the server names it in its log.
    pub request_id: Option<String>,
}

impl OjsError {
    /// An error with the catalogue's status and retryability.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let entry = code.entry();
        Self {
            code: Cow::Borrowed(entry.wire),
            message: message.into(),
            retryable: entry.retryable,
            status: entry.status,
            kind: None,
            details: None,
            hint: None,
            request_id: None,
        }
    }

    /// Adds `details`.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// Adds a finer kind.
    #[must_use]
    pub fn with_kind(mut self, kind: &'static str) -> Self {
        self.kind = Some(Cow::Borrowed(kind));
        self
    }

    /// Adds advice in place of the catalogue's.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A field of a job that is missing or wrong: 400 `invalid_payload`.
    #[must_use]
    pub fn invalid_field(field: &str, message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidPayload, message).with_details(json!({"field": field}))
    }

    /// A retry policy out of range: 422, `type: "validation_error"`; the message names the field. An empty `field` is the policy itself.
    #[must_use]
    pub fn invalid_retry(field: &str, message: impl std::fmt::Display) -> Self {
        let path = if field.is_empty() { "retry".to_owned() } else { format!("retry.{field}") };
        let mut error = Self::new(ErrorCode::ValidationError, format!("{path} {message}."));
        error.details = Some(json!({"field": path, "rule": "validation.retry_policy_invalid"}));
        error
    }

    /// 404 for a resource. The answer repeats an id whole, or the beginning of a text that is longer than any id.
    #[must_use]
    pub fn not_found(resource: &str, id: &str) -> Self {
        let id = beginning(id);
        let mut name = resource.replace('_', " ");
        if let Some(first) = name.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        Self::new(ErrorCode::NotFound, format!("{name} '{id}' not found."))
            .with_details(json!({"resource_type": resource, "resource_id": id}))
    }

    /// 409 for an operation that the job's state does not allow (decision D11).
    #[must_use]
    pub fn wrong_state(job_id: impl std::fmt::Display, current: crate::JobState, expected: &str) -> Self {
        Self::new(ErrorCode::Conflict, format!("Job '{job_id}' is {current}; this needs a job that is {expected}.")).with_details(
            json!({
                "reason": "invalid_state_transition", "job_id": job_id.to_string(),
                "current_state": current.as_str(), "expected_state": expected,
            }),
        )
    }

    /// 409 for an outcome that arrives under a lease which another claim has replaced (decision D5).
    #[must_use]
    pub fn stale_lease(job_id: impl std::fmt::Display, reason: &str) -> Self {
        Self::new(ErrorCode::Conflict, format!("The lease on job '{job_id}' belongs to a newer claim; nothing was changed."))
            .with_details(json!({"reason": reason, "job_id": job_id.to_string(), "current_state": "active"}))
            .with_hint("Drop the outcome: the job was handed to another worker after this lease ran out.")
    }

    /// 409 for an id that exists.
    #[must_use]
    pub fn duplicate_id(job_id: impl std::fmt::Display, state: crate::JobState) -> Self {
        Self::new(ErrorCode::Duplicate, format!("A job with id '{job_id}' exists already."))
            .with_details(json!({"existing_job_id": job_id.to_string(), "existing_job_state": state.as_str()}))
    }

    /// The `error` object of the response body (protocol section 4.1).
    #[must_use]
    pub fn to_object(&self) -> Value {
        let known = ErrorCode::recognise(&self.code).map(ErrorCode::entry);
        let hint = self.hint.as_deref().or(known.map(|e| e.hint)).unwrap_or("See the message.");
        let mut object = Map::new();
        object.insert("code".into(), json!(self.code));
        object.insert("message".into(), json!(self.message));
        object.insert("retryable".into(), json!(self.retryable));
        object.insert("type".into(), json!(self.kind.as_ref().unwrap_or(&self.code)));
        if let Some(details) = &self.details {
            object.insert("details".into(), details.clone());
        }
        object.insert("hint".into(), json!(hint));
        object.insert("docs_url".into(), json!(format!("https://openjobspec.org/errors/{}", self.code)));
        if let Some(request_id) = &self.request_id {
            object.insert("request_id".into(), json!(request_id));
        }
        Value::Object(object)
    }

    /// The whole body, `{"error": {…}}`.
    #[must_use]
    pub fn to_body(&self) -> String {
        json!({"error": self.to_object()}).to_string()
    }

    /// Reads an error out of a response body in any of the published shapes: nested, flat, or
    /// `{"error": "Name", "message"}` (protocol section 4.1). `None` when the body is no OJS error.
    #[must_use]
    pub fn from_body(status: u16, body: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(body).ok()?;
        let (object, code) = match value.get("error") {
            Some(Value::Object(inner)) => (inner, inner.get("code")?.as_str()?),
            Some(Value::String(name)) => (value.as_object()?, name.as_str()),
            _ => (value.as_object()?, value.get("code")?.as_str()?),
        };
        let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
        // A custom code says nothing about retries; a bare `{"error": "Bad Gateway"}` is a proxy's, and its status does.
        let by_status = value.get("error").is_some_and(Value::is_string) && matches!(status, 408 | 429 | 500..=599);
        let known = ErrorCode::recognise(code).map_or(by_status, |c| c.entry().retryable);
        Some(Self {
            code: Cow::Owned(code.to_owned()),
            message: text("message").unwrap_or_else(|| code.to_owned()),
            retryable: object.get("retryable").and_then(Value::as_bool).unwrap_or(known),
            status,
            kind: text("type").map(Cow::Owned),
            details: object.get("details").filter(|d| !d.is_null()).cloned(),
            hint: text("hint"),
            request_id: text("request_id"),
        })
    }

    /// True for every published spelling of "the job's state does not allow this" (protocol section 4.4). A stale lease
    /// ([`is_stale_lease`](Self::is_stale_lease)) is something else: the job is active, for another worker.
    #[must_use]
    pub fn is_invalid_state_transition(&self) -> bool {
        self.status == 409
            && !self.is_stale_lease()
            && matches!(ErrorCode::recognise(&self.code), Some(ErrorCode::Conflict | ErrorCode::InvalidRequest))
    }

    /// True for an outcome that arrived under a lease which another claim has replaced (decision D5).
    #[must_use]
    pub fn is_stale_lease(&self) -> bool {
        self.details.as_ref().and_then(|d| d.get("reason")).and_then(Value::as_str) == Some("stale_lease")
    }

    /// True for 409 `duplicate`.
    #[must_use]
    pub fn is_duplicate(&self) -> bool {
        ErrorCode::recognise(&self.code) == Some(ErrorCode::Duplicate)
    }
}

/// The longest id, and the longest name, that anything has.
const LONGEST_ID: usize = 255;

/// A text as it may be repeated in an answer: whole, or its beginning.
#[must_use]
pub fn beginning(text: &str) -> std::borrow::Cow<'_, str> {
    match text.char_indices().nth(LONGEST_ID) {
        None => text.into(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one_row_and_a_unique_word() {
        let mut words = std::collections::HashSet::new();
        for entry in ErrorCode::CATALOGUE {
            assert!(words.insert(entry.wire), "{} twice", entry.wire);
            assert_eq!(ErrorCode::recognise(entry.wire), Some(entry.code));
            assert_eq!(entry.code.entry().wire, entry.wire);
            assert!(entry.hint.ends_with('.'));
            if (400..500).contains(&entry.status) {
                let expected = matches!(entry.status, 408 | 429) || entry.wire == "queue_paused";
                assert_eq!(entry.retryable, expected, "{}", entry.wire);
            }
        }
    }

    #[test]
    fn what_is_not_found_is_named_in_words() {
        let error = OjsError::not_found("push_endpoint", "pe_1");
        assert_eq!(error.message, "Push endpoint 'pe_1' not found.");
    }

    #[test]
    fn the_body_has_every_mandatory_field() {
        let body: Value = serde_json::from_str(&OjsError::not_found("job", "x").to_body()).unwrap();
        for field in ["code", "message", "type", "hint", "docs_url"] {
            assert!(body["error"][field].as_str().is_some_and(|s| !s.is_empty()), "{field}");
        }
        assert_eq!(body["error"]["retryable"], false);
    }

    #[test]
    fn a_stale_lease_is_no_wrong_state() {
        let stale = OjsError::stale_lease("x", "stale_lease");
        assert!(stale.is_stale_lease() && !stale.is_invalid_state_transition());
        let wrong = OjsError::wrong_state("x", crate::JobState::Completed, "active");
        assert!(!wrong.is_stale_lease() && wrong.is_invalid_state_transition());
    }

    #[test]
    fn canonical_names_have_their_own_numbers() {
        assert_eq!(ErrorCode::numeric("INVALID_QUEUE"), Some("OJS-1002"));
        assert_eq!(ErrorCode::numeric("invalid_payload"), Some("OJS-1000"));
        assert_eq!(ErrorCode::numeric("x_custom"), None);
        for (numeric, name, code) in catalogue::CANONICAL {
            assert_eq!(ErrorCode::numeric(name), Some(*numeric));
            assert_eq!(ErrorCode::recognise(name), Some(*code));
        }
    }

    #[test]
    fn all_published_shapes_are_read() {
        let nested = OjsError::from_body(409, br#"{"error":{"code":"INVALID_STATE_TRANSITION","message":"no"}}"#).unwrap();
        assert!(nested.is_invalid_state_transition());
        let flat = OjsError::from_body(429, br#"{"code":"RATE_LIMITED","message":"slow"}"#).unwrap();
        assert!(flat.retryable);
        let named = OjsError::from_body(413, br#"{"error":"PayloadTooLarge","message":"big"}"#).unwrap();
        assert_eq!(ErrorCode::recognise(&named.code), Some(ErrorCode::PayloadTooLarge));
        assert_eq!(OjsError::from_body(502, b"<html>"), None);
        let custom = OjsError::from_body(500, br#"{"error":{"code":"x_custom","message":"?"}}"#).unwrap();
        assert!(!custom.retryable, "an unknown code is final unless it says otherwise");
        assert!(OjsError::from_body(503, br#"{"error":"Service Unavailable"}"#).unwrap().retryable, "a proxy's answer");
        let own = OjsError::duplicate_id("x", crate::JobState::Active);
        assert!(OjsError::from_body(409, own.to_body().as_bytes()).unwrap().is_duplicate());
    }
}
