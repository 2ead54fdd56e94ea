//! `/session` of this process: people sign in with keys of the other server, also of one that knows no sessions.
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, HeaderMap, HeaderValue, SET_COOKIE};
use axum::response::{IntoResponse, Response};
use ojs_engine::access::Permission;
use ojs_model::{ErrorCode, OjsError};
use serde_json::{Map, Value, json};

use super::forward::{answer, key_of};
use super::upstream::{lacks, read};
use super::{Front, headers, refusal};

/// `POST /session`: 204 and a cookie that stands for the key of this request, when the other server accepts the key.
pub async fn begin(State(front): State<Arc<Front>>, asked: HeaderMap) -> Response {
    let Some(key) = asked.get(AUTHORIZATION) else {
        let error = OjsError::new(ErrorCode::Unauthenticated, "A session needs the key: Authorization: Bearer KEY.");
        return refusal(&error.with_hint("It is a key of the server that this page stands in front of."));
    };
    let mut key = key.clone();
    key.set_sensitive(true);
    if let Err(error) = front.upstream.accepts(Some(&key)).await {
        return refusal(&error);
    }
    match front.sessions.begin(key, &asked) {
        Ok(cookie) => {
            tracing::info!("a session began");
            nothing(Some(&cookie))
        }
        Err(error) => {
            let message = format!("No session was begun: no random bytes from the system: {error}.");
            refusal(&OjsError::new(ErrorCode::BackendError, message))
        }
    }
}

/// `DELETE /session`: the cookie is worth nothing from now on, and this process forgets the key.
pub async fn end(State(front): State<Arc<Front>>, asked: HeaderMap) -> Response {
    nothing(front.sessions.end(&asked).as_deref())
}

/// `GET /session`: what the other server says of the key. One that knows no sessions is asked for everything, and
/// refuses itself what the key may not do.
pub async fn get(State(front): State<Arc<Front>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let (key, session) = key_of(&front, &parts.headers);
    let mut sent = headers::of_request(&parts.headers);
    if let Some(key) = key {
        sent.insert(AUTHORIZATION, key);
    }
    let path = parts.uri.path_and_query().map_or("/ojs/v1/session", |path| path.as_str());
    let known = match front.upstream.send(parts.method, path, sent, Bytes::new()).await {
        Err(error) => return refusal(&error),
        Ok(known) => known,
    };
    let mut said = match known.status() {
        status if lacks(status) => everything(),
        status if status.is_success() => match read(known).await.and_then(|text| serde_json::from_slice(&text).ok()) {
            Some(said) => said,
            None => everything(),
        },
        _ => return answer(&front, known, None),
    };
    match session {
        Some(session) => {
            said.insert("expires_at".to_owned(), json!(session.ends_at.to_string()));
            said.entry("name").and_modify(|name| {
                if name.is_null() {
                    *name = json!("signed in")
                }
            });
        }
        // The key of the operator is no session that a person could end.
        None => {
            said.insert("name".to_owned(), Value::Null);
        }
    }
    let mut response = axum::Json(Value::Object(said)).into_response();
    headers::guard(response.headers_mut());
    headers::set_json(response.headers_mut());
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// What a server without sessions would say: nothing is known, so nothing is hidden.
fn everything() -> Map<String, Value> {
    let permissions: Vec<&str> = Permission::ALL.iter().map(|needs| needs.word()).collect();
    let mut said = Map::new();
    said.insert("role".to_owned(), Value::Null);
    said.insert("roles".to_owned(), json!([]));
    said.insert("permissions".to_owned(), json!(permissions));
    for unknown in ["tenant", "name", "expires_at"] {
        said.insert(unknown.to_owned(), Value::Null);
    }
    said
}

fn nothing(cookie: Option<&str>) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(cookie) = cookie.and_then(|cookie| HeaderValue::from_str(cookie).ok()) {
        headers.insert(SET_COOKIE, cookie);
    }
    response
}
