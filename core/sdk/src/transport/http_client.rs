//! A server over HTTP: keep-alive pool, time-outs, safe resending, bearer token, headers, TLS.
use std::sync::OnceLock;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue};
use ojs_model::redact;

use super::extension::REQUIRES_EXTENSION;
use super::{BoxFuture, ConnectOptions, Enqueued, Request, Response, Transport, TransportError, TransportErrorKind, tls};

/// Memory that is set aside for an answer on the word of its sender; a longer one gets more as it comes.
const PREPARED_BYTES: usize = 1 << 20;

/// Talks to an OJS server over HTTP/1.1, or HTTP/2 where TLS negotiates it.
pub struct Http {
    /// Scheme, authority and path prefix, without a slash at the end.
    base: String,
    options: ConnectOptions,
    headers: HeaderMap,
    pool: Pool,
    enqueued: Enqueued,
}

/// The connections of one process. A forked child must not touch its parent's sockets: it gets a pool of its own,
/// behind the parent's, without a lock that the fork might have caught locked.
struct Pool {
    process: u32,
    client: reqwest::Client,
    after_fork: OnceLock<Box<Pool>>,
}

impl Http {
    /// A transport to `url`, such as `https://jobs.example.com` or `http://localhost:8080/prefix`. Connects on first use.
    ///
    /// # Errors
    /// [`TransportErrorKind::Config`] for a URL, header or certificate that cannot be used.
    pub fn new(url: &str, options: ConnectOptions) -> Result<Self, TransportError> {
        let config = |message: String| TransportError::new(TransportErrorKind::Config, message);
        // A URL may hold a password, which no message may.
        let shown = redact::url(url);
        let parsed = reqwest::Url::parse(url).map_err(|e| config(format!("'{shown}' is not a URL")).with_source(e))?;
        if !matches!(parsed.scheme(), "http" | "https") || parsed.query().is_some() || parsed.fragment().is_some() {
            return Err(config(format!("'{shown}' is not the URL of a server: use http://host:port or https://host:port")));
        }
        let base = parsed.as_str().trim_end_matches('/');
        // The base path belongs to every request; users who wrote it mean the same server.
        let base = base.strip_suffix(super::BASE_PATH).unwrap_or(base).to_owned();
        let headers = headers(&options)?;
        let pool = Pool::new(&base, &options)?;
        let enqueued = Enqueued::at(&base);
        Ok(Self { base, options, headers, pool, enqueued })
    }

    async fn send_once(&self, client: &reqwest::Client, request: &Request) -> Result<Response, TransportError> {
        let url = format!("{}{}", self.base, request.absolute_path());
        let mut headers = self.headers.clone();
        if let Some(tenant) = &request.tenant {
            let wrong = |_| TransportError::new(TransportErrorKind::Config, format!("'{tenant}' is no id of a tenant"));
            headers.insert(super::TENANT, HeaderValue::from_str(tenant).map_err(wrong)?);
        }
        let mut call = client.request(request.method.clone(), url).headers(headers);
        call = call.timeout(self.options.timeout.saturating_add(request.wait));
        if let Some(extension) = request.required_extension() {
            call = call.header(REQUIRES_EXTENSION, extension);
        }
        if let Some(body) = &request.body {
            call = call.body(body.clone());
        }
        let answer = call.send().await.map_err(|e| self.fault(e))?;
        let status = answer.status().as_u16();
        let retry_after = answer.headers().get(RETRY_AFTER).and_then(seconds);
        let request_id = answer.headers().get("x-request-id").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let body = self.read(answer).await?;
        Ok(Response { status, body, retry_after, request_id, sends: 1 })
    }

    /// The body, as long as it is within the limit: a server that goes on for ever must not take all memory.
    async fn read(&self, mut answer: reqwest::Response) -> Result<Bytes, TransportError> {
        let most = self.options.max_response_bytes;
        let announced = answer.content_length().and_then(|length| usize::try_from(length).ok());
        if announced.is_some_and(|length| length > most) {
            return Err(self.too_large());
        }
        // Most answers come whole.
        let Some(first) = answer.chunk().await.map_err(|e| self.fault(e))? else { return Ok(Bytes::new()) };
        if first.len() <= most && announced == Some(first.len()) {
            return Ok(first);
        }
        let mut body = BytesMut::with_capacity(announced.unwrap_or(first.len()).min(PREPARED_BYTES));
        let mut next = Some(first);
        while let Some(chunk) = next {
            if body.len().saturating_add(chunk.len()) > most {
                return Err(self.too_large());
            }
            body.extend_from_slice(&chunk);
            next = answer.chunk().await.map_err(|e| self.fault(e))?;
        }
        Ok(body.freeze())
    }

    fn too_large(&self) -> TransportError {
        let most = self.options.max_response_bytes;
        let server = redact::url(&self.base);
        let message = format!(
            "the answer from {server} is longer than {most} bytes: ask for less at once, or raise max_response_bytes \
             (OJS_MAX_RESPONSE_BYTES)"
        );
        TransportError::new(TransportErrorKind::TooLarge, message)
    }

    fn fault(&self, error: reqwest::Error) -> TransportError {
        let (kind, what) = if error.is_builder() {
            (TransportErrorKind::Config, "cannot build a request to")
        } else if error.is_connect() {
            (TransportErrorKind::Connect, "cannot connect to")
        } else if error.is_timeout() {
            (TransportErrorKind::Timeout, "no answer in time from")
        } else {
            (TransportErrorKind::Interrupted, "connection lost to")
        };
        TransportError::new(kind, format!("{what} {}", redact::url(&self.base))).with_source(error.without_url())
    }
}

impl Transport for Http {
    fn request(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(async move {
            let client = self.pool.of_this_process(&self.base, &self.options)?;
            let answer = self.options.resend.run(request.resend, || self.send_once(client, &request)).await;
            self.enqueued.observe(request.enqueues(), &answer);
            answer
        })
    }

    fn resends(&self) -> bool {
        self.options.resend.max_sends > 1
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn enqueue_signal(&self) -> Option<&Enqueued> {
        Some(&self.enqueued)
    }
}

impl Pool {
    fn new(base: &str, options: &ConnectOptions) -> Result<Self, TransportError> {
        let mut builder = reqwest::Client::builder();
        if options.proxy == super::Proxy::None || is_loopback(base) {
            // A proxy on the way to this machine would get the bearer token in clear, and reach another machine.
            builder = builder.no_proxy();
        }
        let client = builder
            .tls_backend_preconfigured(tls::config(base.starts_with("https"), options)?)
            .connect_timeout(options.connect_timeout)
            .pool_idle_timeout(Duration::from_secs(90))
            .tcp_nodelay(true)
            // A redirected POST would become a GET.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("ojs-rust/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|e| TransportError::new(TransportErrorKind::Config, "cannot build the HTTP client").with_source(e))?;
        Ok(Self { process: std::process::id(), client, after_fork: OnceLock::new() })
    }

    fn of_this_process(&self, base: &str, options: &ConnectOptions) -> Result<&reqwest::Client, TransportError> {
        let mut pool = self;
        while pool.process != std::process::id() {
            let next = match pool.after_fork.get() {
                Some(next) => next,
                None => {
                    let fresh = Box::new(Self::new(base, options)?);
                    pool.after_fork.get_or_init(|| fresh)
                }
            };
            pool = next;
        }
        Ok(&pool.client)
    }
}

/// Whether a URL leads to this machine.
fn is_loopback(base: &str) -> bool {
    let parsed = reqwest::Url::parse(base).ok();
    parsed.as_ref().and_then(reqwest::Url::host_str).is_some_and(|host| {
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
        address.map_or(host == "localhost" || host.ends_with(".localhost"), |address| address.is_loopback())
    })
}

fn headers(options: &ConnectOptions) -> Result<HeaderMap, TransportError> {
    let media_type = HeaderValue::from_static(ojs_model::MEDIA_TYPE);
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, media_type.clone());
    headers.insert(ACCEPT, media_type);
    let config = |name: &str| {
        TransportError::new(TransportErrorKind::Config, format!("header '{name}' has a name or value that HTTP does not allow"))
    };
    for (name, value) in &options.headers {
        let parsed_name: HeaderName = name.parse().map_err(|_| config(name))?;
        headers.insert(parsed_name, value.parse().map_err(|_| config(name))?);
    }
    if let Some(token) = &options.auth_token {
        let mut value: HeaderValue = format!("Bearer {token}").parse().map_err(|_| config("authorization"))?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

/// `Retry-After` in seconds. The date form is not used by OJS servers and is left to the caller's own patience.
fn seconds(value: &HeaderValue) -> Option<Duration> {
    value.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http").field("base", &redact::url(&self.base)).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_addresses_are_told_from_names_that_look_like_them() {
        for (url, loopback) in [
            ("http://127.0.0.1:8080", true),
            ("http://127.9.9.9", true),
            ("http://[::1]:8080/prefix", true),
            ("http://localhost:8080", true),
            ("http://jobs.localhost", true),
            ("http://localhost.example.com", false),
            ("http://127.0.0.1.example.com", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(url), loopback, "{url}");
        }
    }
}
