//! The seam between the SDK and whatever answers it: a server over HTTP, an engine in this process, or any object of
//! yours (architecture decision D1).
//!
//! One method carries every call, so a fake for a test is one closure:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), ojs::Error> {
//! use ojs::{Client, transport::{self, Response}};
//!
//! let fake = transport::from_fn(|request| async move {
//!     assert_eq!((request.method.as_str(), request.path.as_ref()), ("POST", "/jobs"));
//!     Ok(Response::new(201, r#"{"job":{"id":"test-id","type":"email.send","state":"available","args":["test"]}}"#))
//! });
//! let job = Client::new(fake).enqueue("email.send", ["test"]).await?;
//! assert_eq!(job.id, "test-id");
//! # Ok(()) }
//! ```
use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
pub use http::Method;

use crate::encryption::Codec;

mod connect;
#[cfg(feature = "embedded")]
mod embedded;
mod enqueued;
mod error;
mod extension;
#[cfg(feature = "http")]
mod http_client;
mod proxy;
#[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only the HTTP transport sends again"))]
mod resend;
mod tenant;
#[cfg(feature = "http")]
mod tls;

pub(crate) use connect::layered;
pub use connect::{ConnectOptions, check_url, connect};
#[cfg(feature = "embedded")]
pub use embedded::Embedded;
pub use enqueued::Enqueued;
pub use error::{TransportError, TransportErrorKind};
pub use extension::JOB_TRAINS;
#[cfg(feature = "http")]
pub use http_client::Http;
pub use proxy::Proxy;
pub use resend::ResendPolicy;
pub(crate) use tenant::OfTenant;

/// A boxed future, as object-safe async methods return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The header that names the tenant of a request.
#[cfg(any(feature = "http", feature = "embedded"))]
const TENANT: http::HeaderName = http::HeaderName::from_static("x-ojs-tenant");

/// The path of the manifest. Outside `/ojs/v1`, hence written in full (see [`Request::path`]).
pub const MANIFEST_PATH: &str = "/ojs/manifest";

/// The path of the figures for Prometheus, which are text. Outside `/ojs/v1`, too.
pub const METRICS_PATH: &str = "/metrics";

/// What every other path is relative to.
pub const BASE_PATH: &str = "/ojs/v1";

/// Carries requests to an OJS server and answers back.
///
/// An answer of any status is `Ok`: reading OJS errors is the caller's business, so that implementations stay small.
/// `Err` means that there was no answer.
pub trait Transport: Send + Sync + 'static {
    /// Sends one request and waits for the answer.
    fn request(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>>;

    /// Whether this transport may send one request more than once (see [`Request::resend`]).
    ///
    /// The client gives every new job an id of its own when this is true, so that the second of two sends is
    /// recognised as the same job. When false, the server makes the id and the body is just `{type, args}`.
    fn resends(&self) -> bool {
        false
    }

    /// What encrypts arguments on their way out, if anything does: workers on this transport decrypt with it, and rows
    /// for an outbox are encrypted with it before they are written.
    fn codec(&self) -> Option<&Codec> {
        None
    }

    /// Whether a server across a network answers, which others look at as well: relays report to it.
    fn is_remote(&self) -> bool {
        false
    }

    /// The signal that jobs were enqueued, for workers that poll the same server. Without it their pauses are not cut
    /// short.
    fn enqueue_signal(&self) -> Option<&Enqueued> {
        None
    }

    /// Releases what the transport holds; later requests fail with [`TransportErrorKind::Closed`].
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

impl<T: Transport + ?Sized> Transport for Arc<T> {
    fn request(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        (**self).request(request)
    }

    fn resends(&self) -> bool {
        (**self).resends()
    }

    fn codec(&self) -> Option<&Codec> {
        (**self).codec()
    }

    fn is_remote(&self) -> bool {
        (**self).is_remote()
    }

    fn enqueue_signal(&self) -> Option<&Enqueued> {
        (**self).enqueue_signal()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        (**self).close()
    }
}

/// One request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request {
    /// The HTTP method.
    pub method: Method,
    /// Relative to `/ojs/v1` (`/jobs`), but for [`METRICS_PATH`] and [`MANIFEST_PATH`]: a path that starts with
    /// `/ojs/` is complete.
    pub path: Cow<'static, str>,
    /// JSON text.
    pub body: Option<Bytes>,
    /// How long the server may hold back its answer on purpose (a long poll). Added to the transport's own time-out.
    pub wait: Duration,
    /// Whether sending this request twice does no harm. Only then is it sent again after a failure that leaves open
    /// whether the server saw the first one.
    pub resend: bool,
    /// The tenant whose request it is: the header `X-OJS-Tenant`. `None` for that of the connection, if it has one.
    pub tenant: Option<Arc<str>>,
}

impl Request {
    /// A request without a body. `GET` and `DELETE` may be sent again, other methods not.
    #[must_use]
    pub fn new(method: Method, path: impl Into<Cow<'static, str>>) -> Self {
        let resend = matches!(method, Method::GET | Method::DELETE | Method::PUT | Method::HEAD);
        Self { method, path: path.into(), body: None, wait: Duration::ZERO, resend, tenant: None }
    }

    /// A `POST` with a JSON body.
    #[must_use]
    pub fn post(path: impl Into<Cow<'static, str>>, body: impl Into<Bytes>) -> Self {
        Self { body: Some(body.into()), ..Self::new(Method::POST, path) }
    }

    /// A `GET`.
    #[must_use]
    pub fn get(path: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Method::GET, path)
    }

    /// Sets [`resend`](Self::resend).
    #[must_use]
    pub fn with_resend(mut self, resend: bool) -> Self {
        self.resend = resend;
        self
    }

    /// Sets [`wait`](Self::wait).
    #[must_use]
    pub fn with_wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// The path from the root of the server: `/ojs/v1/jobs`, `/ojs/manifest`.
    #[must_use]
    pub fn absolute_path(&self) -> Cow<'_, str> {
        let complete = self.path.starts_with("/ojs/") || self.path == METRICS_PATH;
        if complete { Cow::Borrowed(&self.path) } else { Cow::Owned(format!("{BASE_PATH}{}", self.path)) }
    }
}

/// One answer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// The body as received.
    pub body: Bytes,
    /// The `Retry-After` header.
    pub retry_after: Option<Duration>,
    /// The `X-Request-Id` header: how the server's log names this request.
    pub request_id: Option<String>,
    /// How often the request was sent to get this answer. Above 1, an earlier send may have had its effect already.
    pub sends: u32,
}

impl Response {
    /// An answer to the first send, without headers.
    #[must_use]
    pub fn new(status: u16, body: impl Into<Bytes>) -> Self {
        Self { status, body: body.into(), retry_after: None, request_id: None, sends: 1 }
    }

    /// True for 2xx.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// A transport made of a closure. See the [module documentation](self).
pub fn from_fn<F, Fut>(answer: F) -> Arc<dyn Transport>
where
    F: Fn(Request) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Response, TransportError>> + Send + 'static,
{
    Arc::new(FromFn { answer, enqueued: Enqueued::default() })
}

struct FromFn<F> {
    answer: F,
    enqueued: Enqueued,
}

impl<F, Fut> Transport for FromFn<F>
where
    F: Fn(Request) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Response, TransportError>> + Send + 'static,
{
    fn request(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        let enqueues = request.enqueues();
        let answer = (self.answer)(request);
        Box::pin(async move {
            let answer = answer.await;
            self.enqueued.observe(enqueues, &answer);
            answer
        })
    }

    fn enqueue_signal(&self) -> Option<&Enqueued> {
        Some(&self.enqueued)
    }
}
