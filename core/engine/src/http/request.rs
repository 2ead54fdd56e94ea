//! Requests: headers that concern every call, bodies within limits, query parameters with clear errors.
use std::fmt::Write;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, Method};
use bytes::Bytes;
use ojs_model::limits::MAX_BODY_BYTES;
use ojs_model::{ErrorCode, JobId, MEDIA_TYPE, OjsError, SPEC_VERSION, envelope};
use serde::Deserialize;
use serde_json::json;

use crate::features::cloudevents::answer::{BATCH, STRUCTURED};
use crate::http::header::{CE_SPECVERSION, OJS_VERSION, REQUEST_ID, REQUIRES_EXTENSION};
use crate::http::manifest::has_extension;
use crate::http::reply::EXTENSION_NOT_SUPPORTED;

/// How long a body may take to arrive. A slow client holds one connection, never a thread or the store.
const BODY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(30);

/// What is known of a request before its body.
pub struct Incoming {
    /// The client's id, or a fresh one.
    pub request_id: HeaderValue,
    fault: Option<OjsError>,
}

impl Incoming {
    /// Reads the headers.
    pub fn of(request: &Request) -> Self {
        let headers = request.headers();
        let request_id = given_id(headers).cloned().unwrap_or_else(|| {
            let mut id = String::with_capacity(40);
            // Writing to a String cannot fail; a UUID is a valid header value.
            let _ = write!(id, "req_{}", JobId::now_v7());
            HeaderValue::try_from(id).unwrap_or_else(|_| HeaderValue::from_static("req_unknown"))
        });
        Self { request_id, fault: fault(request.method(), request.uri().path(), headers) }
    }

    /// Refuses versions, codecs and media types that this server does not speak.
    pub fn check(&self) -> Result<(), OjsError> {
        match &self.fault {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }
}

fn given_id(headers: &HeaderMap) -> Option<&HeaderValue> {
    headers.get(&REQUEST_ID).filter(|id| !id.is_empty() && id.len() <= 256 && id.to_str().is_ok())
}

/// How the client named the request, if it did: its jobs carry that name.
pub fn client_request_id(headers: &HeaderMap) -> Option<&str> {
    given_id(headers)?.to_str().ok()
}

fn fault(method: &Method, path: &str, headers: &HeaderMap) -> Option<OjsError> {
    let text = |name| headers.get(name).map(|v: &HeaderValue| v.to_str().unwrap_or("?"));
    if let Some(version) = headers.get(&OJS_VERSION).map(|v| v.to_str().unwrap_or("?"))
        && version.split('.').next() != Some("1")
    {
        return Some(OjsError::new(
            ErrorCode::Unsupported,
            format!("OJS-Version {version} is not supported; this server speaks {SPEC_VERSION}."),
        ));
    }
    if let Some(codec) = text(CONTENT_ENCODING).filter(|codec| *codec != "identity") {
        return Some(OjsError::new(ErrorCode::UnsupportedCompression, format!("Content-Encoding {codec} is not supported.")));
    }
    if let Some(missing) = missing_extension(headers) {
        return Some(missing);
    }
    let essence = media_type(headers)?;
    // An event enqueues a job, and is no other request.
    let known = essence.eq_ignore_ascii_case(MEDIA_TYPE)
        || essence.eq_ignore_ascii_case("application/json")
        || (path == "/ojs/v1/jobs" && is_event(headers, essence));
    let empty = text(CONTENT_LENGTH).is_some_and(|n| n == "0");
    (!known && !empty && matches!(*method, Method::POST | Method::PUT | Method::PATCH)).then(|| {
        OjsError::new(ErrorCode::InvalidRequest, format!("Content-Type must be {MEDIA_TYPE} or application/json, got {essence}."))
    })
}

/// The media type of a body, without its parameters; `?` for one that is no plain text.
pub fn media_type(headers: &HeaderMap) -> Option<&str> {
    let whole = headers.get(CONTENT_TYPE)?.to_str().unwrap_or("?");
    Some(whole.split_once(';').map_or(whole, |(media, _)| media).trim())
}

/// Whether a body is a CloudEvent or a batch of them. In binary mode its media type is that of the data.
fn is_event(headers: &HeaderMap, essence: &str) -> bool {
    [STRUCTURED, BATCH].iter().any(|media| essence.eq_ignore_ascii_case(media)) || headers.contains_key(&CE_SPECVERSION)
}

/// An extension that the client cannot do without and this server does not have.
fn missing_extension(headers: &HeaderMap) -> Option<OjsError> {
    let required = headers.get_all(&REQUIRES_EXTENSION).iter().filter_map(|value| value.to_str().ok());
    let mut names = required.flat_map(|list| list.split(',')).map(str::trim).filter(|name| !name.is_empty());
    let missing = names.find(|name| !has_extension(name))?;
    let mut error = OjsError::new(ErrorCode::Unsupported, format!("This server does not have the extension {missing}."))
        .with_details(json!({"extension": missing}))
        .with_hint("See extensions in /ojs/manifest; do without it, or use a server that has it.");
    error.code = EXTENSION_NOT_SUPPORTED.into();
    Some(error)
}

/// Reads a whole body, at most 64 MiB.
///
/// # Errors
/// 413 when larger, 408 when too slow, 400 when cut off.
pub async fn read_body(headers: &HeaderMap, body: Body) -> Result<Bytes, OjsError> {
    let too_large = |actual: Option<usize>| {
        let error = OjsError::new(ErrorCode::PayloadTooLarge, format!("The body is larger than {MAX_BODY_BYTES} bytes."));
        error.with_details(json!({"field": "body", "actual_bytes": actual, "max_bytes": MAX_BODY_BYTES}))
    };
    let length = headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok()).and_then(|v| v.parse().ok());
    if length.is_some_and(|n: usize| n > MAX_BODY_BYTES) {
        return Err(too_large(length));
    }
    match tokio::time::timeout(BODY_TIMEOUT, to_bytes(body, MAX_BODY_BYTES)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_length_limit(&error) => Err(too_large(None)),
        Ok(Err(error)) => Err(OjsError::new(ErrorCode::InvalidPayload, format!("The body could not be read: {error}."))),
        Err(_) => {
            Err(OjsError::new(ErrorCode::RequestTimeout, format!("The body did not arrive within {} s.", BODY_TIMEOUT.as_secs())))
        }
    }
}

fn is_length_limit(error: &axum::Error) -> bool {
    let source = std::error::Error::source(error);
    source.is_some_and(|inner| inner.is::<http_body_util::LengthLimitError>())
}

/// Parses a checked body. `{}` and nothing are the same.
///
/// # Errors
/// 400 `invalid_payload`, with `details.field` when a member is at fault.
pub fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, OjsError> {
    let text = if body.is_empty() { "{}" } else { envelope::check_body(body)? };
    serde_json::from_str(text).map_err(|error| {
        let cause = ojs_model::json::describe(&error);
        match member_at_fault::<T>(text) {
            Some(member) => OjsError::invalid_field(&member, format!("{member} does not fit: {cause}.")),
            None => OjsError::new(ErrorCode::InvalidPayload, format!("The body does not fit: {cause}.")),
        }
    })
}

/// Reads once more, slower, to learn which member of the body does not fit; `None` for the body as a whole.
fn member_at_fault<'a, T: Deserialize<'a>>(text: &'a str) -> Option<String> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let fault = serde_path_to_error::deserialize::<_, T>(&mut parser).err()?;
    let member = fault.path().to_string();
    (member != ".").then_some(member)
}

/// Query parameters.
#[derive(Debug, Default)]
pub struct Params(Vec<(String, String)>);

impl Params {
    /// From the raw query string.
    pub fn parse(query: Option<&str>) -> Result<Self, OjsError> {
        let uri = format!("/?{}", query.unwrap_or_default());
        let uri: axum::http::Uri =
            uri.parse().map_err(|_| OjsError::new(ErrorCode::InvalidRequest, "The query string is not valid."))?;
        let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&uri)
            .map_err(|error| OjsError::new(ErrorCode::InvalidRequest, format!("The query string is not valid: {error}.")))?;
        Ok(Self(pairs.0))
    }

    /// A parameter, if present and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, value)| known == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    /// `true` or `false`, if present.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, OjsError> {
        let word = self.get(name).map(str::parse).transpose();
        word.map_err(|_| {
            OjsError::new(ErrorCode::InvalidRequest, format!("{name} must be true or false."))
                .with_details(json!({"field": name}))
        })
    }

    /// A comma-separated list.
    pub fn list(&self, name: &str) -> Vec<String> {
        self.get(name)
            .into_iter()
            .flat_map(|v| v.split(','))
            .map(str::trim)
            .filter(|v| !v.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// `limit` and the first place of a page: `offset`, or `cursor`, which is the `next_cursor` of the page before (protocol section 3.10).
    pub fn page(&self, max: usize) -> Result<(usize, usize), OjsError> {
        let cursor = self.number("cursor", 0, usize::MAX)?;
        Ok((self.limit(max)?, self.number("offset", cursor, usize::MAX)?))
    }

    /// `limit`, the size of a page: 50 when the request does not say.
    pub fn limit(&self, max: usize) -> Result<usize, OjsError> {
        Ok(self.number("limit", 50, max)?.max(1))
    }

    /// A number, clamped to `max`.
    pub fn number(&self, name: &str, default: usize, max: usize) -> Result<usize, OjsError> {
        let Some(text) = self.get(name) else { return Ok(default) };
        let number: usize = text.parse().map_err(|_| {
            OjsError::new(ErrorCode::InvalidRequest, format!("{name} must be a whole number, got '{text}'."))
                .with_details(json!({"field": name}))
        })?;
        Ok(number.min(max))
    }
}

/// Reads an id out of a path: one that is no UUIDv7 names nothing.
pub fn job_id(resource: &str, text: &str) -> Result<JobId, OjsError> {
    text.parse().map_err(|_| OjsError::not_found(resource, text))
}
