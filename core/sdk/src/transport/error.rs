//! Faults of the way to the server: there was no OJS answer.
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

/// Why a request got no OJS answer.
#[derive(Debug, Clone)]
pub struct TransportError {
    kind: TransportErrorKind,
    message: String,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// What kind of fault it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransportErrorKind {
    /// No connection was made: the server has not seen the request.
    Connect,
    /// No answer in time: the server may have acted.
    Timeout,
    /// The connection broke before the answer was complete: the server may have acted.
    Interrupted,
    /// Something answered, but not an OJS server: a proxy's page, a wrong URL.
    NotOjs {
        /// HTTP status of the answer.
        status: u16,
    },
    /// The answer was longer than `max_response_bytes`: the server may have acted.
    TooLarge,
    /// The transport was closed.
    Closed,
    /// The process forked after the transport was made; it must be made again in the child.
    Forked,
    /// The transport's settings are unusable: bad URL, unreadable certificate, unsupported scheme.
    Config,
    /// The store of an embedded engine could not be opened.
    Open,
}

impl TransportError {
    /// An error with a message for people.
    #[must_use]
    pub fn new(kind: TransportErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// Adds the underlying error.
    #[must_use]
    pub fn with_source(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// What kind of fault it was.
    #[must_use]
    pub fn kind(&self) -> TransportErrorKind {
        self.kind
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self.kind {
            TransportErrorKind::Connect | TransportErrorKind::Timeout | TransportErrorKind::Interrupted => true,
            TransportErrorKind::NotOjs { status } => matches!(status, 408 | 429 | 500..=599),
            TransportErrorKind::TooLarge
            | TransportErrorKind::Closed
            | TransportErrorKind::Forked
            | TransportErrorKind::Config
            | TransportErrorKind::Open => false,
        }
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let mut causes = std::iter::successors(self.source(), |&cause| cause.source());
        if self.kind == TransportErrorKind::Connect {
            // The last cause says why ("Connection refused"); those before it are layers of the HTTP client.
            return causes.last().map_or(Ok(()), |cause| write!(f, ": {cause}"));
        }
        causes.try_for_each(|cause| write!(f, ": {cause}"))
    }
}

impl StdError for TransportError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|e| e as &(dyn StdError + 'static))
    }
}
