//! In front of every route: identifies the caller and checks its permission.
use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use ojs_model::{ErrorCode, OjsError, Timestamp};

use crate::engine::Engine;
use crate::features::sessions::commands::GetSession;
use crate::features::sessions::{cookie, watch};
use crate::http::access::{Access, Holder, Permission};
use crate::http::client_limit::{Guest, Peer};
use crate::http::hosts::Hosts;
use crate::http::media::EVENT_STREAM;
use crate::http::reply::Failure;

/// The key that a request shows, looked up once for all checks before its handler.
#[derive(Debug, Clone)]
struct Shown(Result<Holder, Failure>);

/// The key that a request came with and that its route accepts; none where no keys are asked for.
#[derive(Debug, Clone)]
pub struct Caller(pub Holder);

/// The key of a request whose answer may last: a stream of events ends with its key, and with the session that it was
/// opened in.
#[derive(Debug, Clone)]
pub struct InForce {
    access: Arc<Access>,
    holder: Holder,
    /// Id of the session, and the engine that knows it.
    session: Option<(Arc<str>, Engine)>,
}

impl InForce {
    /// The holder of the key.
    pub fn holder(&self) -> &Holder {
        &self.holder
    }

    /// Resolves when the key is no longer in force as it was, or its session is over.
    pub async fn ended(&self) {
        match &self.session {
            None => self.access.ended(&self.holder).await,
            Some((id, engine)) => tokio::select! {
                () = self.access.ended(&self.holder) => {}
                () = watch::over(engine, id) => {}
            },
        }
    }

    /// An answer, which ends with the key if it is a stream of events. A client that connects again is told why.
    fn bound(self, response: Response) -> Response {
        if !response.headers().get(CONTENT_TYPE).is_some_and(|media| media.as_bytes().starts_with(EVENT_STREAM.as_bytes())) {
            return response;
        }
        let (parts, body) = response.into_parts();
        let frames = body.into_data_stream().take_until(async move { self.ended().await });
        Response::from_parts(parts, Body::from_stream(frames))
    }
}

/// The session of a request that came with a cookie instead of a key.
#[derive(Debug, Clone)]
pub struct InSession {
    /// When the session ends.
    pub ends_at: Timestamp,
    /// Its id.
    id: Arc<str>,
}

/// Finds the holder of the key of a request: by the key itself, or by a session that stands for it.
#[derive(Debug, Clone)]
pub struct Gate {
    /// The keys in force.
    pub access: Arc<Access>,
    /// Where sessions are kept.
    pub engine: Engine,
    /// The names of this server.
    pub hosts: Arc<Hosts>,
}

/// Refuses with 401 or 403, before the body is read.
pub async fn guard(State((gate, needs)): State<(Gate, Permission)>, mut request: Request, next: Next) -> Response {
    let allowed = gate.holder(&mut request).await;
    let allowed = allowed.and_then(|holder| holder.check(needs).map(|()| holder).map_err(Failure::from));
    match allowed {
        Ok(holder) => {
            let session = request.extensions().get::<InSession>().map(|known| (Arc::clone(&known.id), gate.engine.clone()));
            let key = InForce { access: Arc::clone(&gate.access), holder: holder.clone(), session };
            request.extensions_mut().insert(key.clone());
            request.extensions_mut().insert(Caller(holder));
            key.bound(next.run(request).await)
        }
        Err(failure) => {
            let error = failure.error();
            let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
            // The audit trail of refusals: who, what, why. Never the key.
            tracing::warn!(method = %request.method(), route, code = %error.code, reason = %error.message, "access refused");
            failure.into_response()
        }
    }
}

impl Gate {
    /// The holder of the key that a request shows, or of the key that its session stands for.
    async fn holder(&self, request: &mut Request) -> Result<Holder, Failure> {
        if let Some(Shown(known)) = request.extensions().get() {
            return known.clone();
        }
        let key = bearer(request.headers());
        let found = match cookie::shown(request.headers()).filter(|_| key.is_none()) {
            None => self.access.holder(key).map_err(Failure::from),
            Some(secret) => {
                let id = cookie::id_of(secret);
                match self.hosts.check_own_page(request.method(), request.uri(), request.headers()) {
                    Ok(()) => self.of_session(id, request).await,
                    Err(foreign) => Err(foreign.into()),
                }
            }
        };
        request.extensions_mut().insert(Shown(found.clone()));
        found
    }

    /// The holder of the key that a session stands for. It ends with its time, and with the key.
    async fn of_session(&self, id: String, request: &mut Request) -> Result<Holder, Failure> {
        let found = self.engine.query(GetSession(id.clone())).await?;
        let row = found.filter(|row| row.expires_at > self.engine.now().as_millis()).ok_or_else(over)?;
        let holder = self.access.holder_named(&row.key_name).filter(|holder| holder.mark() == row.key_mark);
        let holder = holder.ok_or_else(over)?;
        request.extensions_mut().insert(InSession { ends_at: Timestamp::from_millis(row.expires_at), id: id.into() });
        Ok(holder)
    }
}

/// Resolves with a refusal when the key of a request ends while the request waits; never without a key.
pub async fn revoked(key: Option<InForce>) -> OjsError {
    match key {
        None => std::future::pending().await,
        Some(key) => {
            key.ended().await;
            let message =
                "The key of this request ended while the request waited: it was revoked or changed, or its session is over.";
            OjsError::new(ErrorCode::Unauthenticated, message).with_hint("Send the request again with a key that is in force.")
        }
    }
}

fn over() -> OjsError {
    let message = "This session is over: its time has passed, it was ended, or its key was revoked.";
    OjsError::new(ErrorCode::Unauthenticated, message).with_hint("Begin another one with POST /ojs/v1/session and the key.")
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
    pub gate: Option<Gate>,
}

/// Refuses with 403 what a page from elsewhere has a browser send.
pub async fn fence(State(fence): State<Fence>, mut request: Request, next: Next) -> Response {
    if let Some(gate) = &fence.gate
        && gate.holder(&mut request).await.is_ok()
    {
        return next.run(request).await;
    }
    match check_page(&fence.hosts, &request) {
        Ok(()) => next.run(request).await,
        Err(error) => Failure::from(error).into_response(),
    }
}

/// Refuses a request that a browser sends for a page of another site, and logs the refusal.
///
/// # Errors
/// As [`Hosts::check`].
pub fn check_page(hosts: &Hosts, request: &Request) -> Result<(), OjsError> {
    hosts.check(request.method(), request.uri(), request.headers()).inspect_err(|error| {
        tracing::warn!(method = %request.method(), reason = %error.message, "a page of a browser was refused");
    })
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
