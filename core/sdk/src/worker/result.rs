//! The return value of a Rust handler.
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::dispatch::{HandlerFailure, Outcome};
use crate::json::Json;

/// The outcome of a handler or a layer around it: a result, `None` for none, or why it failed.
pub type HandlerResult = Result<Option<Json>, HandlerError>;

/// Why a handler failed, or what it wants instead.
///
/// Every error type converts into a failure that may be tried again, so `?` works in handlers:
///
/// ```
/// use ojs::{HandlerError, JobContext};
/// async fn parse(ctx: JobContext) -> Result<u32, HandlerError> {
///     let (text,): (String,) = ctx.args()?;
///     if text.is_empty() {
///         return Err(HandlerError::discard("nothing to parse"));
///     }
///     Ok(text.parse()?)
/// }
/// ```
#[derive(Clone, PartialEq)]
pub struct HandlerError(Wish);

#[derive(Clone, PartialEq)]
enum Wish {
    Fail(HandlerFailure),
    Snooze(Duration),
    Release,
}

impl HandlerError {
    /// A failure that may be tried again.
    pub fn new(message: impl Into<String>) -> Self {
        Self(Wish::Fail(HandlerFailure::error("HandlerError", message)))
    }

    /// A failure that is not tried again.
    pub fn non_retryable(message: impl Into<String>) -> Self {
        Self::new(message).with(|failure| failure.retryable = false)
    }

    /// Ends the job at once and keeps it out of the dead letters.
    pub fn discard(message: impl Into<String>) -> Self {
        Self::non_retryable(message).with_code("DISCARD").with_kind("DiscardError")
    }

    /// Runs the job again after this time; neither a failure nor an attempt is counted.
    #[must_use]
    pub fn snooze(delay: Duration) -> Self {
        Self(Wish::Snooze(delay))
    }

    /// Gives the job back to its queue; no attempt is counted. For a handler that stopped because it was asked to.
    #[must_use]
    pub fn release() -> Self {
        Self(Wish::Release)
    }

    /// Sets the machine-readable code in place of `handler_error`.
    #[must_use]
    pub fn with_code(self, code: impl Into<String>) -> Self {
        self.with(|failure| failure.code = code.into())
    }

    /// Sets the name of the error's type, which retry policies match.
    #[must_use]
    pub fn with_kind(self, kind: impl Into<String>) -> Self {
        self.with(|failure| failure.kind = kind.into())
    }

    /// Adds structured context: a JSON object.
    #[must_use]
    pub fn with_details(self, details: Value) -> Self {
        self.with(|failure| failure.details = Some(details))
    }

    /// The failure; `None` for a snooze or a release.
    #[must_use]
    pub fn failure(&self) -> Option<&HandlerFailure> {
        match &self.0 {
            Wish::Fail(failure) => Some(failure),
            Wish::Snooze(_) | Wish::Release => None,
        }
    }

    fn with(mut self, change: impl FnOnce(&mut HandlerFailure)) -> Self {
        if let Wish::Fail(failure) = &mut self.0 {
            change(failure);
        }
        self
    }

    pub(super) fn into_outcome(self) -> Outcome {
        match self.0 {
            Wish::Fail(failure) => Outcome::Failed(failure),
            Wish::Snooze(delay) => Outcome::Snoozed(delay),
            Wish::Release => Outcome::Released,
        }
    }
}

impl From<HandlerFailure> for HandlerError {
    fn from(failure: HandlerFailure) -> Self {
        Self(Wish::Fail(failure))
    }
}

/// The type's name becomes the error's type; its sources, outermost first, the backtrace.
impl<E: StdError + Send + Sync + 'static> From<E> for HandlerError {
    fn from(error: E) -> Self {
        let mut failure = HandlerFailure::error(std::any::type_name::<E>(), error.to_string());
        let mut source = error.source();
        while let Some(cause) = source {
            failure.backtrace.push(format!("caused by: {cause}"));
            source = cause.source();
        }
        Self(Wish::Fail(failure))
    }
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Wish::Fail(failure) => write!(f, "{}: {}", failure.kind, failure.message),
            Wish::Snooze(delay) => write!(f, "snoozed for {delay:?}"),
            Wish::Release => f.write_str("given back"),
        }
    }
}

impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A handler's value as a result; `()` and null mean no result.
pub(super) fn written<R: Serialize>(value: &R) -> HandlerResult {
    let json = Json::named("result", value).map_err(|error| {
        HandlerError::non_retryable(error.to_string()).with_code("serialization_error").with_kind("SerializationError")
    })?;
    Ok((!json.is_null()).then_some(json))
}
