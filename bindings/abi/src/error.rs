//! The errors that cross the boundary: one table of numbers and classes for all languages.
//!
//! A host language has one exception class per [`ErrorClass`]; which class an error belongs to is decided here, so that
//! every language maps every spelling of every server the same way.
use ojs::transport::TransportErrorKind;
use ojs_model::{ErrorCode, OjsError};
use serde_json::{Map, Value, json};

/// What a call across the boundary can fail with.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum AbiError {
    /// The SDK's own error: the server refused, was not reached, or the request was wrong.
    #[error(transparent)]
    Sdk(#[from] ojs::Error),
    /// An argument of the call is unusable.
    #[error("{0}")]
    Invalid(String),
    /// The object was closed.
    #[error("{0} is closed")]
    Closed(&'static str),
    /// The object was made in another process.
    #[error("{what} was started in process {pid} and does not work in a forked child: {advice}")]
    Forked {
        /// What was used.
        what: &'static str,
        /// The process that made it.
        pid: u32,
        /// What to do instead.
        advice: &'static str,
    },
    /// A panic in this library.
    #[error("internal error in {export}: {message}. This is a bug in OJS; please report it")]
    Panicked {
        /// The function that was called.
        export: &'static str,
        /// The panic's message.
        message: String,
    },
    /// The operating system refused something: threads, descriptors.
    #[error("{0}")]
    System(String),
}

// gen:rust/error_class.j2 (make gen; do not edit)
/// The exception classes that every host language has, by the name they share. Their numbers go over the boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum ErrorClass {
    /// The server answered, and the answer is an error.
    Api = 1,
    /// The job exists already: same id, or a unique policy said so.
    Duplicate = 2,
    /// There is no such job, queue, workflow or schedule (any more).
    NotFound = 3,
    /// The queue is paused and refuses jobs.
    QueuePaused = 4,
    /// The request came too fast, or the queue is full.
    RateLimited = 5,
    /// The state of the job, schema, workflow or other thing does not allow the operation; for a job, current_state in the details names it.
    InvalidStateTransition = 6,
    /// The job, its metadata, its result or the batch is larger than the server takes.
    PayloadTooLarge = 7,
    /// The server found the request wrong; field in the details names the place.
    InvalidRequest = 8,
    /// The token is missing, wrong, or not allowed to do this.
    Authentication = 9,
    /// The server does not have an extension that the request needs, such as job trains; extension in the details names it. Nothing was done.
    UnsupportedExtension = 11,
    /// There was no OJS answer.
    Connection = 20,
    /// There was no answer in time; the server may have acted.
    Timeout = 21,
    /// The request, an argument or a setting was found wrong before anything was sent.
    Validation = 30,
    /// An enqueue middleware did not call next: the job was dropped on purpose.
    NotEnqueued = 31,
    /// A request of a webhook is not to be trusted: a header is missing, the signature is old, or no secret fits. reason in the details is a word for it.
    UntrustedWebhook = 34,
    /// The client, worker or server was closed.
    Closed = 40,
    /// A worker or embedded engine of the parent was used in a forked child. Make it after the fork.
    Forked = 41,
    /// A bug in OJS. Please report it.
    Internal = 42,
}
// gen:end

// gen:rust/class_of_code.j2 (make gen; do not edit)
impl ErrorClass {
    /// The class of refusals with this code, which is in small letters; `None` where the status decides.
    #[rustfmt::skip]
    fn of_code(code: &str) -> Option<Self> {
        Some(match code {
            "duplicate" => Self::Duplicate,
            "not_found" | "result_pruned" => Self::NotFound,
            "queue_paused" => Self::QueuePaused,
            "queue_full" | "rate_limited" | "tenant_limit_exceeded" => Self::RateLimited,
            "conflict" | "invalid_state_transition" => Self::InvalidStateTransition,
            "batch_size_exceeded" | "metadata_too_large" | "payload_too_large" | "result_too_large" => Self::PayloadTooLarge,
            "invalid_payload" | "invalid_request" | "schema_validation" | "unsupported" | "validation_error" => Self::InvalidRequest,
            "permission_denied" | "unauthenticated" => Self::Authentication,
            "extension_not_supported" => Self::UnsupportedExtension,
            _ => return None,
        })
    }
}
// gen:end

impl ErrorClass {
    /// The class of a refusal.
    #[must_use]
    pub fn of_refusal(error: &OjsError) -> Self {
        // Published servers have several spellings of this one, one of which is a code that means something else.
        if error.is_invalid_state_transition() {
            return Self::InvalidStateTransition;
        }
        let code = ErrorCode::recognise(&error.code).map_or(&*error.code, |code| code.entry().wire);
        match Self::of_code(&code.to_ascii_lowercase()) {
            // The code of a wrong state that means something else: a lease that another claim has replaced.
            None | Some(Self::InvalidStateTransition) => Self::of_status(error.status),
            Some(class) => class,
        }
    }

    /// The class of a refusal whose code says nothing.
    const fn of_status(status: u16) -> Self {
        match status {
            401 | 403 => Self::Authentication,
            404 => Self::NotFound,
            413 => Self::PayloadTooLarge,
            429 => Self::RateLimited,
            _ => Self::Api,
        }
    }
}

impl AbiError {
    /// An argument of the call is unusable.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }

    /// Something that does not follow a fork.
    #[must_use]
    pub fn forked(what: &'static str, pid: u32) -> Self {
        Self::Forked { what, pid, advice: "create or start it after the fork (for example in a post-fork hook)" }
    }

    /// The class of host exception to raise.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Sdk(ojs::Error::Ojs(refusal)) => ErrorClass::of_refusal(refusal),
            Self::Sdk(ojs::Error::Transport(error)) => match error.kind() {
                TransportErrorKind::Timeout => ErrorClass::Timeout,
                TransportErrorKind::Closed => ErrorClass::Closed,
                TransportErrorKind::Forked => ErrorClass::Forked,
                TransportErrorKind::Config => ErrorClass::Validation,
                _ => ErrorClass::Connection,
            },
            Self::Sdk(
                ojs::Error::Validation { .. }
                | ojs::Error::Serialization { .. }
                | ojs::Error::Decryption(_)
                | ojs::Error::Middleware(_)
                | ojs::Error::UnknownMiddleware(_)
                | ojs::Error::DuplicateMiddleware(_)
                | ojs::Error::Frozen,
            )
            | Self::Invalid(_) => ErrorClass::Validation,
            Self::Sdk(ojs::Error::NotEnqueued) => ErrorClass::NotEnqueued,
            Self::Sdk(ojs::Error::UntrustedWebhook(_)) => ErrorClass::UntrustedWebhook,
            Self::Sdk(_) | Self::Panicked { .. } | Self::System(_) => ErrorClass::Internal,
            Self::Closed(_) => ErrorClass::Closed,
            Self::Forked { .. } => ErrorClass::Forked,
        }
    }

    /// What went wrong; and what to do about it, where the error itself cannot know that it is a person who has to.
    fn told(&self) -> String {
        match self {
            Self::Sdk(ojs::Error::Transport(error)) if matches!(error.kind(), TransportErrorKind::Connect) => {
                format!(
                    "{self}. Does a server run there? Start one with `ojs server`, or name another: OJS_URL, or the client's URL"
                )
            }
            _ => self.to_string(),
        }
    }

    /// The error object in the form of the wire, for hosts to read: `code`, `message`, `retryable`, `status`, `details`,
    /// `hint`, `request_id`, `numeric`.
    #[must_use]
    pub fn to_object(&self) -> Value {
        let (object, status, retryable) = match self {
            Self::Sdk(ojs::Error::Ojs(refusal)) => (refusal.to_object(), refusal.status, refusal.retryable),
            Self::Sdk(error @ ojs::Error::UntrustedWebhook(why)) => {
                (json!({"code": error.code(), "details": {"reason": why.code()}}), 0, false)
            }
            Self::Sdk(error) => (json!({"code": error.code()}), error.status().unwrap_or(0), error.is_retryable()),
            Self::Invalid(_) => (json!({"code": "invalid_argument"}), 0, false),
            Self::Closed(_) => (json!({"code": "closed"}), 0, false),
            Self::Forked { .. } => (json!({"code": "forked"}), 0, false),
            Self::Panicked { .. } | Self::System(_) => (json!({"code": "internal_error"}), 0, false),
        };
        let mut object = match object {
            Value::Object(object) => object,
            _ => Map::new(),
        };
        let numeric = object.get("code").and_then(Value::as_str).and_then(ErrorCode::recognise).map(|code| code.entry().numeric);
        object.entry("message").or_insert_with(|| json!(self.told()));
        object.insert("status".into(), json!(status));
        object.insert("retryable".into(), json!(retryable));
        object.insert("numeric".into(), json!(numeric));
        Value::Object(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_other_servers_find_their_class() {
        for (status, body, class) in [
            (404, r#"{"error":{"code":"JOB_NOT_FOUND","message":"x"}}"#, ErrorClass::NotFound),
            (409, r#"{"code":"DUPLICATE_JOB","message":"x"}"#, ErrorClass::Duplicate),
            (409, r#"{"error":{"code":"invalid_state_transition","message":"x"}}"#, ErrorClass::InvalidStateTransition),
            (
                409,
                r#"{"error":{"code":"conflict","message":"x","details":{"reason":"invalid_state_transition"}}}"#,
                ErrorClass::InvalidStateTransition,
            ),
            (413, r#"{"error":"PayloadTooLarge","message":"x"}"#, ErrorClass::PayloadTooLarge),
            (429, r#"{"error":{"code":"x_slow","message":"x"}}"#, ErrorClass::RateLimited),
            (422, r#"{"error":{"code":"EXTENSION_NOT_SUPPORTED","message":"x"}}"#, ErrorClass::UnsupportedExtension),
            (503, r#"{"error":{"code":"backend_unavailable","message":"x"}}"#, ErrorClass::Api),
        ] {
            let refusal = OjsError::from_body(status, body.as_bytes()).unwrap();
            assert_eq!(ErrorClass::of_refusal(&refusal), class, "{body}");
        }
    }

    /// What the documentation of the operations says about a code (xtask/schema.toml) is what callers get.
    #[test]
    fn a_refusal_of_our_server_has_the_class_that_is_declared_for_its_code() {
        for entry in ErrorCode::CATALOGUE.iter().filter(|entry| entry.status > 0) {
            let body = json!({"error": {"code": entry.wire, "message": "x"}}).to_string();
            let refusal = OjsError::from_body(entry.status, body.as_bytes()).unwrap();
            let declared = ErrorClass::of_code(entry.wire).unwrap_or(ErrorClass::Api);
            assert_eq!(ErrorClass::of_refusal(&refusal), declared, "{}", entry.wire);
        }
    }

    #[test]
    fn without_a_listener_it_says_how_to_change_that() {
        let refused = ojs::transport::TransportError::new(TransportErrorKind::Connect, "cannot connect to http://127.0.0.1:9");
        let object = AbiError::Sdk(refused.into()).to_object();
        let message = object.get("message").and_then(Value::as_str).unwrap_or_default();
        assert!(message.starts_with("cannot connect to http://127.0.0.1:9. ") && message.contains("`ojs server`"), "{message}");
    }

    #[test]
    fn the_object_always_has_the_same_members() {
        for error in
            [AbiError::forked("a worker", 1), AbiError::Sdk(OjsError::not_found("job", "1").into()), AbiError::Closed("client")]
        {
            let object = error.to_object();
            for member in ["code", "message", "retryable", "status", "numeric"] {
                assert!(object.get(member).is_some(), "{member} of {error}");
            }
        }
    }
}
