//! Transports that are written in the host's language.
use std::sync::Arc;

use ojs::transport::{BoxFuture, Request, Response, Transport, TransportError, TransportErrorKind};

/// Carries requests to an OJS server and answers back. The host implements it; it is called from a thread of this
/// library, and for requests of clients and of relays only: jobs do not go this way one by one.
#[uniffi::export(with_foreign)]
#[async_trait::async_trait]
pub trait HostTransport: Send + Sync {
    /// Sends one request: `path` is relative to `/ojs/v1` or begins with `/ojs/`. An answer of any status is an answer;
    /// an error means that there was none.
    async fn send(&self, method: String, path: String, body: Option<Vec<u8>>) -> Result<HostAnswer, HostError>;
}

/// What a transport of the host brings back.
#[derive(Debug, uniffi::Record)]
pub struct HostAnswer {
    /// The status of HTTP.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// There was no answer.
#[derive(Debug, thiserror::Error, uniffi::Error)]
pub enum HostError {
    /// Why, for people.
    #[error("{why}")]
    NoAnswer {
        /// For people.
        why: String,
    },
}

impl From<uniffi::UnexpectedUniFFICallbackError> for HostError {
    fn from(error: uniffi::UnexpectedUniFFICallbackError) -> Self {
        Self::NoAnswer { why: error.reason }
    }
}

/// The transport that the core sees.
pub(crate) struct Over(pub Arc<dyn HostTransport>);

impl Transport for Over {
    fn request(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        let host = Arc::clone(&self.0);
        Box::pin(async move {
            let body = request.body.map(Vec::from);
            match host.send(request.method.to_string(), request.path.into_owned(), body).await {
                Ok(answer) => Ok(Response::new(answer.status, answer.body)),
                Err(error) => Err(TransportError::new(TransportErrorKind::Connect, error.to_string())),
            }
        })
    }
}
