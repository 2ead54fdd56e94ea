//! Sends requests on to the other server, and its answers back as they come.
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use axum::response::Response;
use futures_util::StreamExt;
use ojs_engine::read_body;

use super::sessions::Found;
use super::{Front, headers, refusal};

/// Any request below `/ojs/v1`, and the manifest.
pub async fn forward(State(front): State<Arc<Front>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = match read_body(&parts.headers, body).await {
        Ok(body) => body,
        Err(error) => return refusal(&error),
    };
    let (key, session) = key_of(&front, &parts.headers);
    let mut sent = headers::of_request(&parts.headers);
    if let Some(key) = key {
        sent.insert(AUTHORIZATION, key);
    }
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    match front.upstream.send(parts.method, path, sent, body).await {
        Ok(known) => answer(&front, known, session),
        Err(error) => refusal(&error),
    }
}

/// The key for a request: its own, that of its session, that of the operator who started this process.
pub fn key_of(front: &Front, headers: &HeaderMap) -> (Option<HeaderValue>, Option<Found>) {
    if let Some(own) = headers.get(AUTHORIZATION) {
        return (Some(own.clone()), None);
    }
    match front.sessions.find(headers) {
        Some(session) => (Some(session.key.clone()), Some(session)),
        None => (front.upstream.token().cloned(), None),
    }
}

/// The answer of the other server. A stream of events ends with the session that it was opened in, and with this
/// process.
pub fn answer(front: &Front, known: reqwest::Response, session: Option<Found>) -> Response {
    let (status, kept) = (known.status(), headers::of_answer(known.headers()));
    let body = Body::new(reqwest::Body::from(known));
    let is_stream = kept.get(CONTENT_TYPE).is_some_and(|media| media.as_bytes().starts_with(b"text/event-stream"));
    let body = if is_stream {
        let mut stopping = front.stopping.clone();
        let ended = async move {
            let over = async {
                match session {
                    Some(session) => session.over().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = over => {}
                _ = stopping.wait_for(|stopping| *stopping) => {}
            }
        };
        Body::from_stream(body.into_data_stream().take_until(ended))
    } else {
        body
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = kept;
    response
}
