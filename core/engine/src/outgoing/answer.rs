//! A request that is to be sent, and what came of it.
use std::time::Duration;

use axum::http::HeaderMap;
use bytes::Bytes;

use super::guard::Refused;

/// Most bytes of an answer's body that are read.
pub const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// Redirects that are followed.
pub const MAX_REDIRECTS: usize = 3;

/// A POST request.
#[derive(Debug, Clone)]
pub struct Post {
    /// Where it goes.
    pub url: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
    /// What it may cost.
    pub bounds: Bounds,
    /// Set for a request to a service of Amazon: it is signed with the operator's credentials when it is sent.
    pub aws: Option<AwsScope>,
}

/// What a signature of Amazon is valid for.
#[derive(Debug, Clone)]
pub struct AwsScope {
    /// The name of the service, such as `sqs`.
    pub service: &'static str,
    /// Its region; `None` for the one that the operator has set.
    pub region: Option<String>,
}

/// Bounds of one request.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The most that the request and its answer may take; `None` for what the operator has set.
    pub timeout: Option<Duration>,
    /// Bytes of the answer that are read.
    pub answer_bytes: usize,
    /// Redirects that are followed. With 0, a redirect is an answer.
    pub redirects: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { timeout: None, answer_bytes: MAX_ANSWER_BYTES, redirects: MAX_REDIRECTS }
    }
}

/// An answer, whatever its status.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// For how long the receiver wants no further request.
    pub retry_after: Option<Duration>,
    /// The beginning of its body, as much as the request allows. What is not UTF-8 is replaced.
    pub body: String,
    /// Whether the body ended there, and within the time.
    pub is_whole: bool,
    /// Whether the time was over before the body had ended.
    pub is_late: bool,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The guard does not let the engine connect there.
    #[error("{0}")]
    Refused(#[from] Refused),
    /// An answer redirects to where no request can go, or too often.
    #[error("{0}")]
    Redirect(String),
    /// No answer within the time.
    #[error("no answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// No connection: the receiver has seen nothing of the request.
    #[error("{0}")]
    Unreachable(String),
    /// The connection ended before the answer.
    #[error("{0}")]
    Connection(String),
    /// The request could not be signed for Amazon: there are no credentials, or they cannot be fetched.
    #[error("{0}")]
    Unsigned(String),
}
