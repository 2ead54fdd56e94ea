//! `/session`: a browser shows its key once and gets a cookie; the page asks what its session may do; it signs out.
use std::convert::Infallible;

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use ojs_model::{ErrorCode, OjsError, Timestamp, hex};
use rand::TryRngCore;
use serde_json::json;

use crate::engine::Engine;
use crate::features::sessions::commands::{BeginSession, EndSession};
use crate::features::sessions::cookie;
use crate::features::sessions::records::{LASTS_MS, SessionRow};
use crate::http::access::{Permission, Role};
use crate::http::guard::{Caller, InSession};
use crate::http::holder::Holder;
use crate::http::reply::{Failure, Json};

/// Who asks: the holder of a key, where keys are asked for, and when the session ends that stands for the key.
#[derive(Debug)]
pub struct Visitor {
    holder: Option<Holder>,
    expires_at: Option<Timestamp>,
}

impl<S: Send + Sync> FromRequestParts<S> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let holder = parts.extensions.get::<Caller>().map(|Caller(holder)| holder.clone());
        Ok(Self { holder, expires_at: parts.extensions.get::<InSession>().map(|session| session.ends_at) })
    }
}

/// `POST /session`: 204 and a cookie that stands for the key of this request. Where no keys are asked for, there is
/// no cookie either.
pub async fn begin(State(engine): State<Engine>, visitor: Visitor, headers: HeaderMap) -> Result<Json, Failure> {
    let Some(holder) = visitor.holder else { return Ok(nothing()) };
    if visitor.expires_at.is_some() {
        // Else a session could be continued without end by what a browser sends by itself.
        let error = OjsError::new(ErrorCode::Unauthenticated, "A new session needs the key: Authorization: Bearer KEY.");
        return Err(error.with_hint("A session lasts 12 hours and is not continued by its own cookie.").into());
    }
    let mut bits = [0_u8; 32];
    rand::rngs::OsRng.try_fill_bytes(&mut bits).map_err(|error| {
        OjsError::new(ErrorCode::BackendError, format!("No session was begun: no random bytes from the system: {error}."))
    })?;
    let secret = hex::encode(&bits);
    let row = SessionRow {
        id: cookie::id_of(&secret),
        key_name: holder.name().to_owned(),
        key_mark: holder.mark(),
        expires_at: engine.now().as_millis().saturating_add(LASTS_MS),
    };
    engine.of_all().execute(BeginSession(row)).await?;
    tracing::info!(key = holder.name(), "a session began");
    Ok(nothing().with_header("set-cookie", cookie::begin(&secret, &headers)))
}

/// `GET /session`: whose it is, what it may do, and when it ends.
pub async fn get(visitor: Visitor) -> Json {
    let roles: Vec<Role> = visitor.holder.as_ref().map_or_else(|| vec![Role::Admin], |holder| holder.roles().to_vec());
    let may = |needs: &Permission| roles.iter().any(|role| role.allows(*needs));
    let permissions: Vec<&str> = Permission::ALL.iter().filter(|needs| may(needs)).map(|needs| needs.word()).collect();
    let body = json!({
        // The one that allows most; a key may have several.
        "role": roles.iter().max().map(ToString::to_string),
        "roles": roles.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "permissions": permissions,
        "tenant": visitor.holder.as_ref().and_then(|holder| holder.tenant().map(|tenant| &**tenant)),
        "name": visitor.holder.as_ref().map(Holder::name),
        "expires_at": visitor.expires_at.map(|end| end.to_string()),
    });
    Json::ok(body.to_string()).with_header("cache-control", "no-store")
}

/// `DELETE /session`: the cookie is worth nothing from now on, wherever it is.
pub async fn end(State(engine): State<Engine>, headers: HeaderMap) -> Result<Json, Failure> {
    let Some(secret) = cookie::shown(&headers) else { return Ok(nothing()) };
    engine.of_all().execute(EndSession(cookie::id_of(secret))).await?;
    Ok(nothing().with_header("set-cookie", cookie::end(&headers)))
}

fn nothing() -> Json {
    Json::with_status(StatusCode::NO_CONTENT, String::new()).with_header("cache-control", "no-store")
}
