//! The head of a handler that reads a body: who asks, from where, with which headers and which body.
use std::time::Duration;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::HeaderMap;
use bytes::Bytes;
use ojs_model::OjsError;
use serde::Deserialize;

use crate::engine::Engine;
use crate::http::caller::Asker;
use crate::http::client_limit::{Guest, Slot};
use crate::http::guard::{InForce, guest, revoked};
use crate::http::reply::Failure;
use crate::http::request::{client_request_id, parse, read_body};

/// A request whose body has arrived.
#[derive(Debug)]
pub struct Call {
    /// The key that it came with.
    pub asker: Asker,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, not parsed yet.
    pub body: Bytes,
    /// Whose places it takes.
    pub(super) guest: Guest,
    /// The same key, for a request that waits.
    pub(super) key: Option<InForce>,
}

impl FromRequest<Engine> for Call {
    type Rejection = Failure;

    async fn from_request(request: Request, engine: &Engine) -> Result<Self, Failure> {
        let (mut parts, body) = request.into_parts();
        let Ok(asker) = Asker::from_request_parts(&mut parts, engine).await;
        let guest = guest(&parts.extensions);
        let key = parts.extensions.get::<InForce>().cloned();
        let body = read_body(&parts.headers, body).await?;
        Ok(Self { asker, headers: parts.headers, body, guest, key })
    }
}

impl Call {
    /// Reads the body.
    ///
    /// # Errors
    /// 400 that names the member at fault.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, OjsError> {
        parse(&self.body)
    }

    /// How the client named the request, if it did.
    pub fn request_id(&self) -> Option<&str> {
        client_request_id(&self.headers)
    }

    /// Resolves with a refusal when the key ends while the request waits; never without a key.
    pub fn revoked(&self) -> impl Future<Output = OjsError> + Send + 'static {
        revoked(self.key.clone())
    }

    /// A place for a request that waits; none is needed when it does not.
    ///
    /// # Errors
    /// 429 when too many wait.
    pub fn slot(&self, engine: &Engine, patience: Duration) -> Result<Option<Slot>, OjsError> {
        engine.slot(&self.guest, patience)
    }
}
