//! In front of every route when keys are on: who asks, and may they.
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::reply::Failure;
use crate::access::{Access, Permission};

/// The name of the key that a request came with, for handlers: `Option<Extension<Caller>>`, none where no keys are asked for.
#[derive(Debug, Clone)]
pub struct Caller(pub String);

/// Refuses with 401 or 403, before the body is read.
pub async fn guard(State((access, needs)): State<(Arc<Access>, Permission)>, mut request: Request, next: Next) -> Response {
    let header = request.headers().get(AUTHORIZATION).and_then(|header| header.to_str().ok());
    let bearer = header.and_then(|header| {
        let (scheme, secret) = header.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(secret.trim())
    });
    match access.check(bearer, needs) {
        Ok(name) => {
            request.extensions_mut().insert(Caller(name));
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
