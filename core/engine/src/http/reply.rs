//! Responses: JSON text with the headers that every answer carries, and refusals as error bodies.
use axum::body::Body;
use axum::http::header::{ALLOW, CONTENT_TYPE, HeaderName, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use ojs_model::{ErrorCode, MEDIA_TYPE, OjsError, SPEC_VERSION};

use crate::error::{Refusal, StoreError};
use crate::features::cloudevents::answer::BATCH;
use crate::features::tenants::quota::LIMIT_EXCEEDED;
use crate::http::header::{OJS_VERSION, REQUEST_ID};
use crate::http::media::EVENT_STREAM;

/// A JSON answer.
#[derive(Debug)]
pub struct Json {
    status: StatusCode,
    body: String,
    location: Option<String>,
    headers: Vec<(&'static str, String)>,
}

impl Json {
    /// 200.
    pub fn ok(body: String) -> Self {
        Self { status: StatusCode::OK, body, location: None, headers: Vec::new() }
    }

    /// 201, with a place to look for what was created.
    pub fn created(body: String, location: Option<String>) -> Self {
        Self { status: StatusCode::CREATED, body, location, headers: Vec::new() }
    }

    /// Any status.
    pub fn with_status(status: StatusCode, body: String) -> Self {
        Self { status, body, location: None, headers: Vec::new() }
    }
}

impl Json {
    /// Adds a header. Its name is in lower case.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl std::fmt::Display) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }
}

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = self.status;
        if let Some(location) = self.location.and_then(|l| HeaderValue::try_from(l).ok()) {
            response.headers_mut().insert(LOCATION, location);
        }
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::try_from(value) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

/// A refusal on its way out. The body is written in [`finish`], where the request id is known.
#[derive(Debug, Clone)]
pub struct Failure(Box<OjsError>);

impl Failure {
    /// What is wrong.
    pub fn error(&self) -> &OjsError {
        &self.0
    }
}

impl From<OjsError> for Failure {
    fn from(error: OjsError) -> Self {
        Self(Box::new(error))
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Ojs(error) => Self(error),
            Refusal::Blocked(blocked) => Self(Box::new(blocked.error)),
            Refusal::Store(StoreError::Unstorable(what)) => {
                let message = format!("A name in the request cannot be stored: it holds U+0000 or a character like it ({what}).");
                OjsError::new(ErrorCode::InvalidPayload, message).into()
            }
            Refusal::Store(fault) => {
                tracing::error!(%fault, "store");
                let (code, what) = match &fault {
                    StoreError::Unavailable(_) | StoreError::Conflict(_) | StoreError::Closed => {
                        (ErrorCode::BackendUnavailable, "The request was not carried out")
                    }
                    StoreError::Unknown(_) => (
                        ErrorCode::BackendUnavailable,
                        "Whether the request was carried out is not known; the same ids make sending it again safe",
                    ),
                    StoreError::Failed(_) | StoreError::Unstorable(_) => {
                        (ErrorCode::BackendError, "The request was not carried out")
                    }
                };
                OjsError::new(code, format!("{what}: {fault}.")).into()
            }
        }
    }
}

impl From<StoreError> for Failure {
    fn from(fault: StoreError) -> Self {
        Refusal::from(fault).into()
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status_of(&self.0);
        response.extensions_mut().insert(self);
        response
    }
}

/// The literal code that the backpressure extension prints.
const QUEUE_FULL: &str = "QUEUE_FULL";
/// The literal code for an extension that the client requires.
pub const EXTENSION_NOT_SUPPORTED: &str = "EXTENSION_NOT_SUPPORTED";
/// Most jobs of a request, in a header as well (bulk operations, section 11.3).
const MAX_BATCH: HeaderName = HeaderName::from_static("x-ojs-max-batch-size");

/// How full the queue is, in headers.
fn set_depth_headers(response: &mut Response, error: &OjsError) {
    for (name, member) in [("x-ojs-queue-depth", "depth"), ("x-ojs-queue-bound", "bound")] {
        let number = error.details.as_ref().and_then(|details| details.get(member)).and_then(serde_json::Value::as_u64);
        if let Some(number) = number {
            response.headers_mut().insert(name, HeaderValue::from(number));
        }
    }
}

/// The body of a refusal. The backpressure, bulk and lifecycle documents show the details inside `error` itself: they are there as well.
fn body_of(error: &OjsError) -> String {
    let details = error.details.as_ref().and_then(serde_json::Value::as_object).filter(|_| {
        error.code == QUEUE_FULL
            || error.code == EXTENSION_NOT_SUPPORTED
            || error.code == LIMIT_EXCEEDED
            || is_batch_too_large(error)
    });
    let (Some(details), serde_json::Value::Object(mut object)) = (details, error.to_object()) else { return error.to_body() };
    for (name, value) in details {
        object.entry(name.clone()).or_insert_with(|| value.clone());
    }
    serde_json::json!({"error": object}).to_string()
}

fn is_batch_too_large(error: &OjsError) -> bool {
    error.code == ErrorCode::BatchSizeExceeded.as_str()
}

/// Adds the common headers; writes the body of a refusal.
pub fn finish(mut response: Response, request_id: &HeaderValue) -> Response {
    if let Some(Failure(mut error)) = response.extensions_mut().remove::<Failure>() {
        error.request_id = request_id.to_str().ok().map(str::to_owned);
        if matches!(error.status, 429 | 503) {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if error.status == 401 {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"ojs\""));
        }
        if error.code == QUEUE_FULL {
            set_depth_headers(&mut response, &error);
        }
        let most = error.details.as_ref().and_then(|details| details.get("max_batch_size")?.as_u64());
        if let Some(most) = most.filter(|_| is_batch_too_large(&error)) {
            response.headers_mut().insert(MAX_BATCH, HeaderValue::from(most));
        }
        *response.body_mut() = Body::from(body_of(&error));
    } else if response.status() == StatusCode::METHOD_NOT_ALLOWED && !response.headers().contains_key(ALLOW) {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE"));
    }
    let headers = response.headers_mut();
    // Streams of events and figures have media types of their own; everything else, whatever it thought of itself, is ours.
    let own = |media: &HeaderValue| {
        let media = media.to_str().unwrap_or_default();
        matches!(media, EVENT_STREAM | "text/plain" | BATCH) || media.starts_with("application/openmetrics-text")
    };
    if !headers.get(CONTENT_TYPE).is_some_and(own) {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    }
    headers.insert(OJS_VERSION.clone(), HeaderValue::from_static(SPEC_VERSION));
    headers.insert(REQUEST_ID.clone(), request_id.clone());
    response
}

/// The HTTP status of a refusal; 500 when its own status is none of a refusal.
pub(crate) fn status_of(error: &OjsError) -> StatusCode {
    StatusCode::from_u16(error.status)
        .ok()
        .filter(|s| s.is_client_error() || s.is_server_error())
        .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
