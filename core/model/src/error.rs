//! Structured errors: the body of every refusal, and the catalogue of codes (protocol section 4).
use std::borrow::Cow;

use serde_json::{Map, Value, json};

/// A code that a server sends or a client meets. The catalogue is [`ErrorCode::CATALOGUE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the catalogue below gives number, name, status and meaning of each")]
#[non_exhaustive]
pub enum ErrorCode {
    InvalidPayload, InvalidRequest, ValidationError, SchemaValidation, NotFound, MethodNotAllowed, Conflict,
    Duplicate, ResultPruned, PayloadTooLarge, MetadataTooLarge, ResultTooLarge, BatchSizeExceeded,
    UnsupportedCompression, Unsupported, QueuePaused, RateLimited, QueueFull, RequestTimeout, InternalError, BackendError,
    BackendUnavailable, BackendTimeout, Unauthenticated, PermissionDenied, HandlerError, HandlerPanic, Timeout,
    NonRetryable, Cancelled, NoHandler, Shutdown, VisibilityTimeout, WorkerDeath, Expired,
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

const fn entry(
    code: ErrorCode, wire: &'static str, numeric: &'static str, status: u16, retryable: bool,
    aliases: &'static [&'static str], hint: &'static str,
) -> CatalogueEntry {
    CatalogueEntry { code, wire, numeric, status, retryable, aliases, hint }
}

impl ErrorCode {
    /// Every code with number, status, retryability, aliases and advice (protocol section 4.7).
    pub const CATALOGUE: &'static [CatalogueEntry] = {
        use ErrorCode as C;
        &[
            entry(C::InvalidPayload, "invalid_payload", "OJS-1000", 400, false, &["INVALID_PAYLOAD", "INVALID_JOB_TYPE", "INVALID_QUEUE", "INVALID_ARGS", "INVALID_METADATA", "VALIDATION_FAILED", "VALIDATION_ERROR", "INVALID_CRON_EXPRESSION", "UNIQUE_KEY_INVALID"], "Correct the field named in details.field and send the request again."),
            entry(C::InvalidRequest, "invalid_request", "OJS-1000", 400, false, &["INVALID_REQUEST"], "Check the query parameters and the Content-Type header."),
            entry(C::ValidationError, "validation_error", "OJS-1006", 422, false, &["INVALID_RETRY_POLICY"], "Correct the retry policy field named in details.field."),
            entry(C::SchemaValidation, "schema_validation", "OJS-1008", 400, false, &["SCHEMA_VALIDATION_FAILED"], "Make args match the registered schema."),
            entry(C::NotFound, "not_found", "OJS-3000", 404, false, &["NOT_FOUND", "QUEUE_NOT_FOUND", "JOB_NOT_FOUND"], "Check the identifier: it may be misspelt, or the resource may have been pruned."),
            entry(C::MethodNotAllowed, "method_not_allowed", "OJS-1000", 405, false, &[], "Use a method from the Allow header."),
            entry(C::Conflict, "conflict", "OJS-1005", 409, false, &["invalid_state_transition", "INVALID_STATE_TRANSITION", "JOB_ALREADY_COMPLETED", "JOB_ALREADY_CANCELLED"], "Read details.current_state: the job is no longer in a state that allows this."),
            entry(C::Duplicate, "duplicate", "OJS-3001", 409, false, &["DUPLICATE_JOB", "duplicate_job"], "The job exists already: see details.existing_job_id."),
            entry(C::ResultPruned, "result_pruned", "OJS-3000", 410, false, &["RESULT_PRUNED"], "Raise result_ttl to keep results for longer."),
            entry(C::PayloadTooLarge, "payload_too_large", "OJS-1009", 413, false, &["PAYLOAD_TOO_LARGE", "envelope_too_large", "PayloadTooLarge"], "Store the data elsewhere and pass a reference in args."),
            entry(C::MetadataTooLarge, "metadata_too_large", "OJS-1010", 413, false, &["METADATA_TOO_LARGE"], "Keep meta below 64 KiB."),
            entry(C::ResultTooLarge, "result_too_large", "OJS-1009", 413, false, &["RESULT_TOO_LARGE"], "Store the result elsewhere and ack again with a reference."),
            entry(C::BatchSizeExceeded, "batch_size_exceeded", "OJS-1009", 413, false, &["BATCH_SIZE_EXCEEDED"], "Split the batch."),
            entry(C::UnsupportedCompression, "unsupported_compression", "OJS-1017", 415, false, &["UNSUPPORTED_COMPRESSION"], "Send the body uncompressed."),
            entry(C::Unsupported, "unsupported", "OJS-7000", 422, false, &["UNSUPPORTED_FEATURE"], "See /ojs/manifest for what this server supports."),
            entry(C::QueuePaused, "queue_paused", "OJS-3004", 422, true, &["QUEUE_PAUSED"], "Wait until the queue is resumed."),
            entry(C::RateLimited, "rate_limited", "OJS-6000", 429, true, &["RATE_LIMITED", "RATE_LIMIT_EXCEEDED"], "Wait for Retry-After seconds."),
            entry(C::QueueFull, "queue_full", "OJS-6001", 429, true, &["QUEUE_FULL"], "Wait until workers have caught up."),
            entry(C::RequestTimeout, "request_timeout", "OJS-1012", 408, true, &["REQUEST_TIMEOUT"], "Send the request again, faster."),
            entry(C::InternalError, "internal_error", "OJS-2004", 500, true, &["INTERNAL_ERROR", "InternalServerError"], "Try again; if it persists, look for the request id in the server's log."),
            entry(C::BackendError, "backend_error", "OJS-2000", 500, true, &["BACKEND_ERROR"], "Try again; the store's own message is in the server's log."),
            entry(C::BackendUnavailable, "backend_unavailable", "OJS-2001", 503, true, &["BACKEND_UNAVAILABLE"], "Try again after Retry-After seconds."),
            entry(C::BackendTimeout, "backend_timeout", "OJS-2002", 504, true, &["BACKEND_TIMEOUT"], "Try again."),
            entry(C::Unauthenticated, "unauthenticated", "OJS-5000", 401, false, &["UNAUTHENTICATED", "TOKEN_EXPIRED"], "Send a valid bearer token."),
            entry(C::PermissionDenied, "permission_denied", "OJS-5001", 403, false, &["PERMISSION_DENIED", "TENANT_ACCESS_DENIED"], "Use a key with the right role."),
            entry(C::HandlerError, "handler_error", "OJS-3005", 0, true, &["HANDLER_ERROR"], "Read the error history of the job."),
            entry(C::HandlerPanic, "handler_panic", "OJS-3007", 0, true, &["HANDLER_PANIC"], "Read the backtrace in the error history."),
            entry(C::Timeout, "timeout", "OJS-3006", 0, true, &["HANDLER_TIMEOUT"], "Raise timeout_ms or make the handler faster."),
            entry(C::NonRetryable, "non_retryable", "OJS-3008", 0, false, &["NON_RETRYABLE_ERROR", "DISCARD"], "The handler refused the job for good."),
            entry(C::Cancelled, "cancelled", "OJS-3009", 0, false, &["JOB_CANCELLED"], "The job was cancelled."),
            entry(C::NoHandler, "no_handler", "OJS-3010", 0, false, &["NO_HANDLER"], "Register a handler for this job type, or remove its queue from this worker."),
            entry(C::Shutdown, "shutdown", "OJS-3005", 0, true, &["ShutdownError"], "The worker stopped; the job runs again elsewhere."),
            entry(C::VisibilityTimeout, "visibility_timeout", "OJS-3006", 0, true, &[], "The worker stopped extending its lease."),
            entry(C::WorkerDeath, "worker_death", "OJS-3005", 0, true, &[], "The worker stopped sending heartbeats."),
            entry(C::Expired, "expired", "OJS-3006", 0, false, &["enqueue_ttl_expired"], "The job expired before it was started."),
        ]
    };

    /// This code's row.
    #[must_use]
    pub fn entry(self) -> &'static CatalogueEntry {
        const INTERNAL: &CatalogueEntry =
            &entry(ErrorCode::InternalError, "internal_error", "OJS-2004", 500, true, &[], "Try again.");
        Self::CATALOGUE.iter().find(|e| e.code == self).unwrap_or(INTERNAL)
    }

    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.entry().wire
    }

    /// Recognises every spelling in the catalogue; `None` for a custom code.
    #[must_use]
    pub fn recognise(word: &str) -> Option<Self> {
        Self::CATALOGUE.iter().find(|e| e.wire == word || e.aliases.contains(&word)).map(|e| e.code)
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
    /// Machine-readable, snake_case: a word of the catalogue, or a custom `x_…` code.
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

    /// A retry policy out of range: 422, `type: "validation_error"`; the message names the field.
    #[must_use]
    pub fn invalid_retry(field: &str, message: impl std::fmt::Display) -> Self {
        Self::new(ErrorCode::ValidationError, format!("retry.{field} {message}"))
            .with_details(json!({"field": format!("retry.{field}"), "rule": "validation.retry_policy_invalid"}))
    }

    /// 404 for a resource.
    #[must_use]
    pub fn not_found(resource: &str, id: &str) -> Self {
        let mut name = resource.to_owned();
        if let Some(first) = name.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        Self::new(ErrorCode::NotFound, format!("{name} '{id}' not found."))
            .with_details(json!({"resource_type": resource, "resource_id": id}))
    }

    /// 409 for an operation that the job's state does not allow (decision D11).
    #[must_use]
    pub fn wrong_state(job_id: impl std::fmt::Display, current: crate::JobState, expected: &str) -> Self {
        Self::new(ErrorCode::Conflict, format!("Job '{job_id}' is {current}; this needs a job that is {expected}."))
            .with_details(json!({
                "reason": "invalid_state_transition", "job_id": job_id.to_string(),
                "current_state": current.as_str(), "expected_state": expected,
            }))
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
        let by_status = matches!(status, 408 | 429 | 500..=599);
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

    /// True for every published spelling of "the job's state does not allow this" (protocol section 4.4).
    #[must_use]
    pub fn is_invalid_state_transition(&self) -> bool {
        self.status == 409
            && matches!(ErrorCode::recognise(&self.code), Some(ErrorCode::Conflict | ErrorCode::InvalidRequest))
    }

    /// True for 409 `duplicate`.
    #[must_use]
    pub fn is_duplicate(&self) -> bool {
        ErrorCode::recognise(&self.code) == Some(ErrorCode::Duplicate)
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
    fn the_body_has_every_mandatory_field() {
        let body: Value = serde_json::from_str(&OjsError::not_found("job", "x").to_body()).unwrap();
        for field in ["code", "message", "type", "hint", "docs_url"] {
            assert!(body["error"][field].as_str().is_some_and(|s| !s.is_empty()), "{field}");
        }
        assert_eq!(body["error"]["retryable"], false);
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
        let own = OjsError::duplicate_id("x", crate::JobState::Active);
        assert!(OjsError::from_body(409, own.to_body().as_bytes()).unwrap().is_duplicate());
    }
}
