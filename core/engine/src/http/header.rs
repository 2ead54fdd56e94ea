//! Names of headers that requests are searched for. A name that is a constant is looked up without being parsed first.
use axum::http::HeaderName;

/// Milliseconds that an enqueue may wait for room in a full queue.
pub static BLOCK_TIMEOUT: HeaderName = HeaderName::from_static("ojs-block-timeout");
/// Version of the CloudEvents specification, which tells that a request carries an event in its headers.
pub static CE_SPECVERSION: HeaderName = HeaderName::from_static("ce-specversion");
/// Version of the protocol.
pub static OJS_VERSION: HeaderName = HeaderName::from_static("ojs-version");
/// What a proxy says of the protocol that its client spoke.
pub static FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
/// Extensions that the client cannot do without.
pub static REQUIRES_EXTENSION: HeaderName = HeaderName::from_static("ojs-requires-extension");
/// Id of a request.
pub static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// What a browser says of the page that sends a request.
pub static SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Trace that a request is part of (W3C Trace Context).
pub static TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// Tenant of a request, in both spellings.
pub static TENANT: [HeaderName; 2] = [HeaderName::from_static("x-ojs-tenant"), HeaderName::from_static("x-ojs-tenant-id")];
