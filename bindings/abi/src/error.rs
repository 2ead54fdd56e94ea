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

/// The exception classes every host language offers, by the name they share.
///
/// | class | code | parent |
/// |---|---|---|
/// | `Api` | 1 | – |
/// | `Duplicate` … `Authentication` | 2 … 9 | `Api` |
/// | `Connection` | 20 | – |
/// | `Timeout` | 21 | `Connection` |
/// | `Validation` | 30 | – |
/// | `NotEnqueued` | 31 | – |
/// | `Closed`, `Forked`, `Internal` | 40, 41, 42 | – |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
#[expect(missing_docs, reason = "the table above and from_error below")]
pub enum ErrorClass {
    Api = 1,
    Duplicate = 2,
    NotFound = 3,
    QueuePaused = 4,
    RateLimited = 5,
    InvalidStateTransition = 6,
    PayloadTooLarge = 7,
    InvalidRequest = 8,
    Authentication = 9,
    Connection = 20,
    Timeout = 21,
    Validation = 30,
    NotEnqueued = 31,
    Closed = 40,
    Forked = 41,
    Internal = 42,
}

impl ErrorClass {
    /// The class of a refusal.
    #[must_use]
    pub fn of_refusal(error: &OjsError) -> Self {
        use ErrorCode as C;
        if error.is_invalid_state_transition() {
            return Self::InvalidStateTransition;
        }
        if error.is_duplicate() {
            return Self::Duplicate;
        }
        match ErrorCode::recognise(&error.code) {
            Some(C::NotFound | C::ResultPruned) => Self::NotFound,
            Some(C::QueuePaused) => Self::QueuePaused,
            Some(C::RateLimited | C::QueueFull) => Self::RateLimited,
            Some(C::PayloadTooLarge | C::MetadataTooLarge | C::ResultTooLarge | C::BatchSizeExceeded) => Self::PayloadTooLarge,
            Some(C::InvalidPayload | C::InvalidRequest | C::ValidationError | C::SchemaValidation | C::Unsupported) => {
                Self::InvalidRequest
            }
            Some(C::Unauthenticated | C::PermissionDenied) => Self::Authentication,
            _ => match error.status {
                401 | 403 => Self::Authentication,
                404 => Self::NotFound,
                413 => Self::PayloadTooLarge,
                429 => Self::RateLimited,
                _ => Self::Api,
            },
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
            Self::Sdk(ojs::Error::Validation { .. } | ojs::Error::Serialization { .. }) | Self::Invalid(_) => {
                ErrorClass::Validation
            }
            Self::Sdk(ojs::Error::NotEnqueued) => ErrorClass::NotEnqueued,
            Self::Sdk(_) | Self::Panicked { .. } | Self::System(_) => ErrorClass::Internal,
            Self::Closed(_) => ErrorClass::Closed,
            Self::Forked { .. } => ErrorClass::Forked,
        }
    }

    /// The error object in the form of the wire, for hosts to read: `code`, `message`, `retryable`, `status`, `details`,
    /// `hint`, `request_id`, `numeric`.
    #[must_use]
    pub fn to_object(&self) -> Value {
        let (object, status, retryable) = match self {
            Self::Sdk(ojs::Error::Ojs(refusal)) => (refusal.to_object(), refusal.status, refusal.retryable),
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
        object.entry("message").or_insert_with(|| json!(self.to_string()));
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
            (503, r#"{"error":{"code":"backend_unavailable","message":"x"}}"#, ErrorClass::Api),
        ] {
            let refusal = OjsError::from_body(status, body.as_bytes()).unwrap();
            assert_eq!(ErrorClass::of_refusal(&refusal), class, "{body}");
        }
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
