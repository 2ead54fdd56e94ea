//! One error type for everything the SDK does, in three groups: the server said no ([`Error::Ojs`]), there was no answer
//! ([`Error::Transport`]), or the request never left this process (all others).
use std::borrow::Cow;

use ojs_model::webhook::Untrusted;
use ojs_model::{ErrorCode, OjsError};

use crate::encryption::CodecError;
use crate::transport::{Response, TransportError, TransportErrorKind};

/// What went wrong.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), ojs::Error> {
/// # use ojs::{Client, transport::{self, Response}};
/// # let client = Client::new(transport::from_fn(|_| async { Ok(Response::new(404, r#"{"error":{"code":"not_found","message":"no","retryable":false}}"#)) }));
/// match client.get_job("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f").await {
///     Ok(job) => println!("{}", job.state),
///     Err(error) if error.is_not_found() => println!("never heard of it"),
///     Err(error) if error.is_retryable() => println!("try later: {error}"),
///     Err(error) => return Err(error),
/// }
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server refused. Code, status, details, hint and request id are inside.
    #[error("{0}")]
    Ojs(Box<OjsError>),
    /// There was no OJS answer: connection, time-out, a page of a proxy.
    #[error("{0}")]
    Transport(#[from] TransportError),
    /// The request was found wrong before it was sent.
    #[error("{field}: {message}")]
    Validation {
        /// The name of the wrong field or setting.
        field: Cow<'static, str>,
        /// What is wrong with it, and what would be right.
        message: String,
    },
    /// A value could not be turned into JSON, or an answer could not be read.
    #[error("{context}: {message}")]
    Serialization {
        /// What was read or written.
        context: &'static str,
        /// The parser's message.
        message: String,
    },
    /// No middleware of that name is in the chain.
    #[error("no middleware named '{0}' in the chain")]
    UnknownMiddleware(String),
    /// A middleware of that name is in the chain already.
    #[error("a middleware named '{0}' is in the chain already")]
    DuplicateMiddleware(String),
    /// The chain may not change any more: it has been used.
    #[error("the middleware chain is frozen: change it before the first job")]
    Frozen,
    /// A middleware failed.
    #[error("middleware: {0}")]
    Middleware(String),
    /// A middleware chose not to enqueue the job (it did not call `next`).
    #[error("not enqueued: a middleware dropped the job")]
    NotEnqueued,
    /// A request of a webhook is not to be trusted.
    #[error("the webhook is not to be trusted: {0}")]
    UntrustedWebhook(#[from] Untrusted),
    /// The arguments of a job cannot be decrypted here.
    #[error(transparent)]
    Decryption(#[from] CodecError),
    /// A handler is registered for that job type already.
    #[error("a handler for '{0}' is registered already")]
    DuplicateHandler(String),
    /// A job that the queue of a cloud has brought to a function has failed, or its outcome did not reach the server:
    /// the queue shall bring it again.
    #[error("the job shall be delivered again: {0}")]
    DeliveryFailed(String),
    /// The worker has stopped, or the delivery is no longer its own.
    #[error("the worker no longer holds this job")]
    NotHeld,
}

impl Error {
    /// A field that is missing or wrong.
    pub fn validation(field: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::Validation { field: field.into(), message: message.into() }
    }

    /// A failed conversion to or from JSON.
    pub fn json(context: &'static str, error: impl std::fmt::Display) -> Self {
        Self::Serialization { context, message: error.to_string() }
    }

    /// The error of an answer that is not 2xx. A body that is no OJS error makes a transport error with the status:
    /// a proxy has answered.
    #[must_use]
    pub fn from_response(response: &Response) -> Self {
        match OjsError::from_body(response.status, &response.body) {
            Some(mut error) => {
                error.status = response.status;
                if error.request_id.is_none() {
                    error.request_id.clone_from(&response.request_id);
                }
                Self::Ojs(Box::new(error))
            }
            None => Self::Transport(TransportError::new(
                TransportErrorKind::NotOjs { status: response.status },
                format!(
                    "HTTP {} without an OJS error body: {}. A proxy or another program has answered: is this the URL of an OJS server?",
                    response.status,
                    excerpt(&response.body)
                ),
            )),
        }
    }

    /// The error of one item of an answer about many, `{"code", "message", …}`; its status is that of its code.
    #[must_use]
    pub fn from_item(error: &str) -> Self {
        match OjsError::from_body(0, format!("{{\"error\":{error}}}").as_bytes()) {
            Some(mut error) => {
                error.status = ErrorCode::recognise(&error.code).map_or(0, |code| code.entry().status);
                Self::Ojs(Box::new(error))
            }
            None => Self::json("bulk answer", "the error of an item cannot be read"),
        }
    }

    /// The refusal, if the server answered.
    #[must_use]
    pub fn ojs(&self) -> Option<&OjsError> {
        match self {
            Self::Ojs(error) => Some(error),
            _ => None,
        }
    }

    /// The machine-readable code: the server's word, or the catalogue's for local faults (`OJS-1011` … in
    /// protocol section 4.7).
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Ojs(error) => &error.code,
            Self::Transport(error) => match error.kind() {
                TransportErrorKind::Timeout => "request_timeout",
                _ => "connection_error",
            },
            Self::Validation { .. } => "invalid_payload",
            Self::Serialization { .. } => "serialization_error",
            Self::UnknownMiddleware(_) | Self::DuplicateMiddleware(_) | Self::Frozen | Self::Middleware(_) => "middleware_error",
            Self::NotEnqueued => "not_enqueued",
            Self::UntrustedWebhook(_) => "untrusted_webhook",
            Self::Decryption(error) => error.code(),
            Self::DuplicateHandler(_) => "duplicate_handler",
            Self::DeliveryFailed(_) => "handler_error",
            Self::NotHeld => "not_held",
        }
    }

    /// The HTTP status of the answer, if there was one.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Ojs(error) => Some(error.status),
            Self::Transport(error) => match error.kind() {
                TransportErrorKind::NotOjs { status } => Some(status),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Ojs(error) => error.retryable,
            Self::Transport(error) => error.is_retryable(),
            Self::Decryption(error) => error.is_retryable(),
            _ => false,
        }
    }

    /// The job exists already: same id, or a unique policy said so. `details.existing_job_id` names it.
    #[must_use]
    pub fn is_duplicate(&self) -> bool {
        self.ojs().is_some_and(OjsError::is_duplicate)
    }

    /// No such job, queue, workflow or cron entry.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.ojs().is_some_and(|e| e.status == 404 || ErrorCode::recognise(&e.code) == Some(ErrorCode::NotFound))
    }

    /// The server does not have an extension that the request needs, such as job trains; `details.extension` names it.
    /// The server has done nothing.
    #[must_use]
    pub fn is_unsupported_extension(&self) -> bool {
        self.ojs().is_some_and(|e| e.code.eq_ignore_ascii_case("extension_not_supported"))
    }

    /// The job's state does not allow the operation, in any of the spellings in use (protocol section 4.4).
    #[must_use]
    pub fn is_invalid_state_transition(&self) -> bool {
        self.ojs().is_some_and(OjsError::is_invalid_state_transition)
    }

    /// The request came too fast or the queue is full.
    #[must_use]
    pub fn is_rate_limited(&self) -> bool {
        self.ojs().is_some_and(|e| e.status == 429)
    }
}

impl From<OjsError> for Error {
    fn from(error: OjsError) -> Self {
        Self::Ojs(Box::new(error))
    }
}

/// The beginning of a foreign body, on one line.
fn excerpt(body: &[u8]) -> String {
    let head = body.get(..200).unwrap_or(body);
    String::from_utf8_lossy(head).split_whitespace().collect::<Vec<_>>().join(" ")
}
