//! Sends requests within limits: of time, of size, of redirects, and of where they go.
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use axum::http::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue};
use bytes::BytesMut;
use reqwest::{Client, Method, Request, Response, Url};

use super::answer::{Answer, Fault, Post};
use super::guard::Guard;
use super::options::OutgoingOptions;
use super::resolver::{GuardedResolver, refusal};
use super::tls;

/// What requests of the engine name themselves.
const USER_AGENT: &str = "OJS-Webhook/1.0";
/// Time to connect, as a part of the whole.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Idle connections that are kept for one host.
const IDLE_PER_HOST: usize = 256;

/// The client of the engine. Its connections are kept and used again.
#[derive(Debug)]
pub struct Outgoing {
    options: OutgoingOptions,
    guard: Arc<Guard>,
    /// Made for the first request, because it reads the certificates of the system.
    client: OnceLock<Client>,
    #[cfg(feature = "sqs")]
    aws: super::aws::Aws,
    /// Fetches credentials; made for the first request that is signed with them.
    #[cfg(feature = "sqs")]
    plain: OnceLock<Client>,
}

impl Outgoing {
    /// A client with these settings. Connects to nothing yet.
    #[must_use]
    pub fn new(options: OutgoingOptions, test_mode: bool) -> Self {
        let guard = Arc::new(Guard::new(options.allow.clone(), options.allow_insecure || test_mode));
        Self {
            options,
            guard,
            client: OnceLock::new(),
            #[cfg(feature = "sqs")]
            aws: super::aws::Aws::default(),
            #[cfg(feature = "sqs")]
            plain: OnceLock::new(),
        }
    }

    /// Whether this build can send requests.
    pub const IS_PRESENT: bool = true;

    /// Whether this build can sign requests to services of Amazon.
    pub const HAS_AWS: bool = cfg!(feature = "sqs");

    /// The region of services of Amazon whose address does not name one.
    #[must_use]
    pub fn aws_region(&self) -> Option<&str> {
        self.options.aws.region.as_deref()
    }

    /// Decides where requests may go.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// The most that a request and its answer may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.options.timeout
    }

    /// Sends a request and reads the beginning of the answer. A redirect (301, 302, 307, 308) is followed with the same
    /// method, headers and body.
    ///
    /// # Errors
    /// [`Fault`] when there is no answer.
    pub async fn post(&self, post: Post) -> Result<Answer, Fault> {
        let bounds = post.bounds;
        let timeout = bounds.timeout.unwrap_or(self.options.timeout);
        let deadline = tokio::time::Instant::now() + timeout;
        let sending = tokio::time::timeout_at(deadline, self.send(post));
        let response = sending.await.unwrap_or(Err(Fault::Timeout(timeout)))?;
        let (status, retry_after) = (response.status().as_u16(), retry_after(response.headers()));
        let (body, end) = beginning(response, deadline, bounds.answer_bytes).await;
        Ok(Answer { status, retry_after, body, is_whole: end == End::Whole, is_late: end == End::Late })
    }

    async fn send(&self, mut post: Post) -> Result<Response, Fault> {
        let mut url = Url::parse(&post.url).map_err(|error| Fault::Unreachable(format!("the URL cannot be read: {error}")))?;
        self.sign(&mut post).await?;
        let Post { mut headers, body, bounds, .. } = post;
        for left in (0..=bounds.redirects).rev() {
            // The client understands more spellings of an address than the guard does: what the guard sees is what
            // the client has read.
            self.guard.check_url(url.as_str())?;
            let mut request = Request::new(Method::POST, url.clone());
            *request.headers_mut() = if left == 0 { std::mem::take(&mut headers) } else { headers.clone() };
            *request.body_mut() = Some(body.clone().into());
            let response = self.client()?.execute(request).await.map_err(fault)?;
            if bounds.redirects == 0 || !matches!(response.status().as_u16(), 301 | 302 | 307 | 308) {
                return Ok(response);
            }
            url = target(&url, response.headers())?;
        }
        Err(Fault::Redirect(format!("more than {} redirects", bounds.redirects)))
    }

    /// Signs a request to a service of Amazon.
    #[cfg(feature = "sqs")]
    async fn sign(&self, post: &mut Post) -> Result<(), Fault> {
        let Some(scope) = &post.aws else { return Ok(()) };
        let plain = match self.plain.get() {
            Some(plain) => plain,
            None => {
                let wrong = |error: &dyn std::fmt::Display| Fault::Unsigned(format!("cannot set up the HTTP client: {error}"));
                let tls = tls::config().map_err(|error| wrong(&error))?;
                let client = Client::builder().tls_backend_preconfigured(tls).no_proxy().connect_timeout(CONNECT_TIMEOUT);
                let client = client.build().map_err(|error| wrong(&error))?;
                self.plain.get_or_init(|| client)
            }
        };
        post.headers = self.aws.signed(post, scope, &self.options.aws, plain).await?;
        Ok(())
    }

    /// The same in a build that signs nothing for Amazon.
    #[cfg(not(feature = "sqs"))]
    async fn sign(&self, post: &mut Post) -> Result<(), Fault> {
        let unsigned = || Fault::Unsigned("this build signs no requests to services of Amazon".to_owned());
        std::future::ready(post.aws.as_ref().map_or(Ok(()), |_| Err(unsigned()))).await
    }

    fn client(&self) -> Result<&Client, Fault> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let failed = |error: &dyn std::fmt::Display| Fault::Unreachable(format!("cannot set up the HTTP client: {error}"));
        let tls = tls::config().map_err(|error| failed(&error))?;
        let resolver = GuardedResolver::new(Arc::clone(&self.guard), self.options.names.clone());
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .dns_resolver(resolver)
            // A proxy would resolve the name itself, behind the guard.
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_max_idle_per_host(IDLE_PER_HOST)
            .tcp_nodelay(true)
            .user_agent(USER_AGENT)
            .default_headers(headers)
            .build()
            .map_err(|error| failed(&error))?;
        Ok(self.client.get_or_init(|| client))
    }
}

fn target(from: &Url, headers: &HeaderMap) -> Result<Url, Fault> {
    let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
    let location = location.ok_or_else(|| Fault::Redirect("a redirect without a Location".to_owned()))?;
    from.join(location).map_err(|_| Fault::Redirect("a redirect to something that is not a URL".to_owned()))
}

fn fault(error: reqwest::Error) -> Fault {
    if let Some(refused) = refusal(&error) {
        return Fault::Refused(refused);
    }
    if let Some(told) = tls::distrust(&error) {
        return Fault::Unreachable(format!("cannot connect: {told}"));
    }
    // The URL may hold a token: it is not repeated. The cause is at the end of the chain.
    let error = error.without_url();
    let mut told = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        told = inner.to_string();
        cause = inner.source();
    }
    match error.is_connect() {
        true => Fault::Unreachable(format!("cannot connect: {told}")),
        false => Fault::Connection(format!("the connection ended: {told}")),
    }
}

/// How the reading of a body has ended.
#[derive(PartialEq, Eq)]
enum End {
    /// All of it was read.
    Whole,
    /// There was more than is wanted, or the connection broke off.
    Cut,
    /// The time was over.
    Late,
}

/// The beginning of the body, and how its reading has ended. Without reading to its end, an answer without end costs
/// its connection only.
async fn beginning(mut response: Response, deadline: tokio::time::Instant, most: usize) -> (String, End) {
    let mut body = BytesMut::new();
    let mut end = End::Cut;
    while body.len() < most {
        match tokio::time::timeout_at(deadline, response.chunk()).await {
            Ok(Ok(Some(chunk))) => {
                body.extend_from_slice(&chunk);
                continue;
            }
            Ok(Ok(None)) => end = End::Whole,
            Ok(Err(_)) => {}
            Err(_) => end = End::Late,
        }
        break;
    }
    body.truncate(most);
    (String::from_utf8_lossy(&body).into_owned(), end)
}

/// `Retry-After`: seconds or a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    // A date that is over is now.
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}
