//! The other server: its address, its key, and requests to it.
use std::time::Duration;

use axum::body::Bytes;
use axum::http::header::{AUTHORIZATION, HeaderMap, HeaderValue, LOCATION};
use axum::http::{Method, StatusCode};
use ojs_model::redact::SecretUrl;
use ojs_model::{ErrorCode, OjsError};
use reqwest::{Client, Response, Url};
use serde_json::Value;

use crate::failure::Failure;

/// Longest time until a connection is there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest answer that is read whole: manifests, sessions, refusals.
const MAX_READ_BYTES: usize = 1 << 20;
const EXAMPLE: &str = "for example --ui-server https://jobs.example.com";

/// The other server.
#[derive(Debug)]
pub struct Upstream {
    client: Client,
    /// Scheme, authority and path prefix, without a slash at the end.
    base: String,
    /// The key of the operator who started this process: for requests that bring none.
    token: Option<HeaderValue>,
}

impl Upstream {
    /// Connects on first use.
    ///
    /// # Errors
    /// A URL or a key that cannot be used.
    pub fn new(url: &SecretUrl, token: Option<&str>, timeout: Duration) -> Result<Self, Failure> {
        let wrong = || Failure::usage(format!("--ui-server: '{url}' is not the URL of a server"), EXAMPLE);
        let parsed = Url::parse(url.expose()).map_err(|_| wrong())?;
        if !matches!(parsed.scheme(), "http" | "https") || parsed.query().is_some() || parsed.fragment().is_some() {
            return Err(wrong());
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(Failure::usage("--ui-server: a URL has no place for a key", "give the key to --token or OJS_AUTH_TOKEN"));
        }
        let base = parsed.as_str().trim_end_matches('/');
        let base = base.strip_suffix("/ojs/v1").unwrap_or(base).to_owned();
        let token = token.map(bearer).transpose()?;
        let failed = |error: &dyn std::fmt::Display| Failure::setting(format!("cannot set up requests to {url}: {error}"));
        let tls = ojs_engine::outgoing::tls_config().map_err(|error| failed(&error))?;
        let mut builder = Client::builder();
        if is_loopback(&parsed) {
            // A proxy on the way to this machine would get the key in clear, and reach another machine.
            builder = builder.no_proxy();
        }
        let client = builder
            .tls_backend_preconfigured(tls)
            .connect_timeout(CONNECT_TIMEOUT)
            // Until the answer begins, and between its parts: a stream of events may last.
            .read_timeout(timeout)
            .tcp_nodelay(true)
            // The key is for the server that was named.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("ojs/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self { client: client.map_err(|error| failed(&error))?, base, token })
    }

    /// The key for requests that bring none.
    pub fn token(&self) -> Option<&HeaderValue> {
        self.token.as_ref()
    }

    /// Looks whether the URL leads to an OJS server that takes the key; the address of its codec server.
    ///
    /// # Errors
    /// No answer, the answer of something else, a key that the server refuses.
    pub async fn introduce(&self) -> Result<Option<String>, Failure> {
        let manifest = self.ask("/ojs/manifest", self.token()).await.map_err(|error| unreachable(&error))?;
        let said = match manifest.status() {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => None,
            status if status.is_success() => read(manifest).await.and_then(|text| serde_json::from_slice::<Value>(&text).ok()),
            status => return Err(Failure::foreign(format!("{}/ojs/manifest was answered with {status}", self.base))),
        };
        if let Some(said) = &said
            && ["specversion", "ojs_version", "implementation"].iter().all(|member| said.get(member).is_none())
        {
            return Err(Failure::foreign(format!("what {}/ojs/manifest answers is no manifest of Open Job Spec", self.base)));
        }
        if self.token.is_some() {
            self.accepts(self.token()).await.map_err(|error| {
                let advice = "--token (OJS_AUTH_TOKEN) must be a key of that server; without it, people sign in with theirs";
                if error.status == 401 { Failure::refused(error.message, advice) } else { unreachable(&error) }
            })?;
        }
        Ok(said.and_then(|said| said.get("codec_server_url")?.as_str().map(str::to_owned)))
    }

    /// Whether the server accepts a key, also a server that knows no sessions.
    ///
    /// # Errors
    /// 401 when the server refuses the key; no answer.
    pub async fn accepts(&self, key: Option<&HeaderValue>) -> Result<(), OjsError> {
        let mut answer = self.ask("/ojs/v1/session", key).await?;
        if lacks(answer.status()) {
            answer = self.ask("/ojs/v1/queues", key).await?;
        }
        match answer.status() {
            StatusCode::UNAUTHORIZED => {
                let said = read(answer).await.and_then(|text| OjsError::from_body(401, &text));
                let words = said.map_or_else(|| "it says no more".to_owned(), |said| said.message);
                Err(OjsError::new(ErrorCode::Unauthenticated, format!("{} does not accept this key: {words}", self.base)))
            }
            status if status.is_server_error() => {
                let message = format!("{} could not check the key: it answered {status}.", self.base);
                Err(OjsError::new(ErrorCode::BackendUnavailable, message).with_hint("Try again when it is well: /ojs/v1/health."))
            }
            _ => Ok(()),
        }
    }

    /// `GET` with a key.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn ask(&self, path: &str, key: Option<&HeaderValue>) -> Result<Response, OjsError> {
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            headers.insert(AUTHORIZATION, key.clone());
        }
        self.send(Method::GET, path, headers, Bytes::new()).await
    }

    /// Sends a request; `path` is that of the protocol, with its query.
    ///
    /// # Errors
    /// A path that leads elsewhere, no answer, an answer that names another address.
    pub async fn send(&self, method: Method, path: &str, headers: HeaderMap, body: Bytes) -> Result<Response, OjsError> {
        let url = self.url(path)?;
        let mut request = self.client.request(method, url).headers(headers);
        if !body.is_empty() {
            request = request.body(body);
        }
        let answer = request.send().await.map_err(|error| self.fault(error))?;
        if answer.status().is_redirection() && answer.status() != StatusCode::NOT_MODIFIED {
            let to = answer.headers().get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("another address").to_owned();
            let message = format!("{} leads to {}.", self.base, ojs_model::redact::url(&to));
            let hint = "Start the page with the address that the server has now: --ui-server URL.";
            return Err(gateway(OjsError::new(ErrorCode::BackendUnavailable, message).with_hint(hint), 502));
        }
        Ok(answer)
    }

    /// The whole address. Dots in a path could lead out of the API, to something else that takes the same key.
    fn url(&self, path: &str) -> Result<Url, OjsError> {
        let api = format!("{}/ojs/", self.base);
        let url = Url::parse(&format!("{}{path}", self.base)).ok().filter(|url| url.as_str().starts_with(&api));
        let is_ours = |url: &Url| {
            let rest = url.as_str().get(api.len()..).unwrap_or_default();
            rest.starts_with("v1/") || rest == "manifest" || rest.starts_with("manifest?")
        };
        url.filter(is_ours).ok_or_else(|| OjsError::new(ErrorCode::NotFound, "Only paths of the protocol are sent on."))
    }

    fn fault(&self, error: reqwest::Error) -> OjsError {
        let (what, hint, status) = match &error {
            error if error.is_connect() => ("cannot be reached", "Is it running, and is the address right?", 502),
            error if error.is_timeout() => ("does not answer in time", "It is slow or far away: --timeout waits longer.", 504),
            _ => ("broke the connection off", "It may have done what was asked: look before you repeat.", 502),
        };
        let message = format!("The server {} {what}.", self.base);
        tracing::debug!(error = &error.without_url() as &dyn std::error::Error, "{what}");
        gateway(OjsError::new(ErrorCode::BackendUnavailable, message).with_hint(hint), status)
    }
}

/// Whether an answer says that the server does not have what was asked for.
pub fn lacks(status: StatusCode) -> bool {
    matches!(status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED)
}

/// A short answer, whole; none when it is too long, or breaks off.
pub async fn read(mut answer: Response) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    while let Some(part) = answer.chunk().await.ok()? {
        if text.len() + part.len() > MAX_READ_BYTES {
            return None;
        }
        text.extend_from_slice(&part);
    }
    Some(text)
}

fn bearer(token: &str) -> Result<HeaderValue, Failure> {
    let wrong = |_| Failure::usage("--token has characters that no key has", "`ojs keys add` on the other server makes keys");
    let mut value = HeaderValue::from_str(&format!("Bearer {token}")).map_err(wrong)?;
    value.set_sensitive(true);
    Ok(value)
}

fn gateway(mut error: OjsError, status: u16) -> OjsError {
    error.status = status;
    error
}

fn unreachable(error: &OjsError) -> Failure {
    let hint = error.hint.as_deref().map(|hint| format!(" {hint}")).unwrap_or_default();
    Failure::unreachable(format!("--ui-server: {}{hint}", error.message))
}

/// Whether a URL leads to this machine.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let address = host.parse::<std::net::IpAddr>();
    address.map_or(host == "localhost" || host.ends_with(".localhost"), |address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream(url: &str) -> Result<Upstream, Failure> {
        Upstream::new(&SecretUrl::from(url.to_owned()), Some("ojs_key"), Duration::from_secs(1))
    }

    #[test]
    fn no_path_leads_out_of_the_api() {
        let server = upstream("https://jobs.example.com/prefix/").unwrap();
        let url = |path| server.url(path).map(|url| url.to_string());
        assert_eq!(url("/ojs/v1/jobs?a=%2F").unwrap(), "https://jobs.example.com/prefix/ojs/v1/jobs?a=%2F");
        assert_eq!(url("/ojs/manifest").unwrap(), "https://jobs.example.com/prefix/ojs/manifest");
        for out in [
            "/ojs/v1/../../../secret",
            "/ojs/v1/%2e%2e/%2E%2E/secret",
            "/ojs/v1/../secret",
            "/ojs/v1/..\\..\\..\\secret",
            "/ojs/v12/jobs",
            "/metrics",
            ".evil.example/ojs/v1/jobs",
            "@evil.example/ojs/v1/jobs",
        ] {
            assert_eq!(url(out).unwrap_err().status, 404, "{out}");
        }
    }

    #[test]
    fn an_address_that_is_none_is_refused_without_its_password() {
        for (wrong, word) in [
            ("jobs.example.com", "https://"),
            ("ftp://jobs.example.com", "https://"),
            ("https://jobs.example.com/?a=1", "https://"),
            ("https://ann:secret@jobs.example.com", "--token"),
        ] {
            let said = upstream(wrong).unwrap_err().to_string();
            assert!(said.contains("--ui-server") && said.contains(word) && !said.contains("secret"), "{said}");
        }
        assert_eq!(upstream("http://localhost:8080/ojs/v1").unwrap().base, "http://localhost:8080");
    }

    #[test]
    fn the_key_is_not_shown() {
        assert!(!format!("{:?}", upstream("http://localhost:8080").unwrap()).contains("ojs_key"));
    }
}
