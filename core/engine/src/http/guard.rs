//! In front of every route: who asks, and may they.
use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ojs_model::OjsError;

use crate::http::access::{Access, Holder, Permission};
use crate::http::client_limit::{Guest, Peer};
use crate::http::hosts::Hosts;
use crate::http::reply::Failure;

/// The key that a request shows, looked up once for all checks before its handler.
#[derive(Debug, Clone)]
struct Shown(Result<Holder, OjsError>);

/// The key that a request came with and that its route accepts; none where no keys are asked for.
#[derive(Debug, Clone)]
pub struct Caller(pub Holder);

/// Refuses with 401 or 403, before the body is read.
pub async fn guard(State((access, needs)): State<(Arc<Access>, Permission)>, mut request: Request, next: Next) -> Response {
    let allowed = holder(&mut request, &access).and_then(|holder| holder.check(needs).map(|()| holder));
    match allowed {
        Ok(holder) => {
            request.extensions_mut().insert(Caller(holder));
            next.run(request).await
        }
        Err(error) => {
            let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
            // The audit trail of refusals: who, what, why. Never the key.
            tracing::warn!(method = %request.method(), route, code = %error.code, reason = %error.message, "access refused");
            Failure::from(error).into_response()
        }
    }
}

/// Whose key a request shows.
fn holder(request: &mut Request, access: &Access) -> Result<Holder, OjsError> {
    if let Some(Shown(known)) = request.extensions().get() {
        return known.clone();
    }
    let found = access.holder(bearer(request.headers()));
    request.extensions_mut().insert(Shown(found.clone()));
    found
}

/// The secret in the `Authorization` header.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, secret) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(secret.trim())
}

/// What keeps out pages of browsers.
#[derive(Debug, Clone)]
pub struct Fence {
    /// The names of this server.
    pub hosts: Arc<Hosts>,
    /// Those with a key pass: no page has one, unless a person gave it to the page.
    pub access: Option<Arc<Access>>,
}

/// Refuses with 403 what a page from elsewhere has a browser send.
pub async fn fence(State(fence): State<Fence>, mut request: Request, next: Next) -> Response {
    let has_key = fence.access.as_ref().is_some_and(|access| holder(&mut request, access).is_ok());
    if has_key {
        return next.run(request).await;
    }
    match fence.hosts.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => {
            tracing::warn!(method = %request.method(), reason = %error.message, "a page of a browser was refused");
            Failure::from(error).into_response()
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Guest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(guest(&parts.extensions))
    }
}

/// Whose places a request takes.
pub fn guest(extensions: &axum::http::Extensions) -> Guest {
    let key = extensions.get::<Caller>().map(|Caller(holder)| holder.name().into());
    Guest { peer: extensions.get::<Peer>().copied(), key }
}
