//! A client step by step.
use std::sync::Arc;
use std::time::Duration;

use ojs_model::redact::SecretUrl;

use super::Client;
use crate::encryption::{Codec, KeyProvider};
use crate::environment::Environment;
use crate::error::Error;
use crate::transport::{ConnectOptions, Proxy, ResendPolicy, Transport, connect, layered};

/// Settings of a [`Client`]: code before environment before default (protocol section 5.10). Reads `OJS_URL` (or
/// `OJS_BACKEND_URL`), `OJS_AUTH_TOKEN`, `OJS_TLS_CA_FILE`, `OJS_TLS_CERT_FILE`, `OJS_TLS_KEY_FILE`,
/// `OJS_ENCRYPTION_KEYS` ([`Keys`](crate::encryption::Keys) as text), `OJS_MAX_RESPONSE_BYTES` and `OJS_PROXY`
/// (`environment` or `none`).
///
/// ```no_run
/// # async fn run() -> Result<(), ojs::Error> {
/// let builder = ojs::Client::builder().url("https://jobs.example.com").auth_token("secret").tenant("acme");
/// let client = builder.connect().await?;
/// # Ok(()) }
/// ```
#[derive(Default)]
#[must_use]
pub struct ClientBuilder {
    url: Option<SecretUrl>,
    transport: Option<Arc<dyn Transport>>,
    auth_token: Option<String>,
    headers: Vec<(String, String)>,
    tenant: Option<String>,
    timeout: Option<Duration>,
    connect_timeout: Option<Duration>,
    resend: Option<ResendPolicy>,
    tls_ca_file: Option<std::path::PathBuf>,
    tls_client_cert: Option<(std::path::PathBuf, std::path::PathBuf)>,
    encryption: Option<Codec>,
    max_response_bytes: Option<usize>,
    proxy: Option<Proxy>,
}

impl ClientBuilder {
    /// The server, or the store of an embedded engine.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(SecretUrl::from(url.into()));
        self
    }

    /// A transport of your own, in place of a URL.
    pub fn transport(mut self, transport: Arc<dyn Transport>) -> Self {
        self.transport = Some(transport);
        self
    }

    /// Sent as `Authorization: Bearer …`.
    pub fn auth_token(mut self, token: impl Into<String>) -> Self {
        self.auth_token = Some(token.into());
        self
    }

    /// Sent with every request. May be called several times.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Makes all requests those of a tenant: they see and change what belongs to it, and the jobs are the tenant's. A
    /// transport of your own reads the tenant from [`Request::tenant`](crate::transport::Request::tenant).
    pub fn tenant(mut self, id: impl Into<String>) -> Self {
        self.tenant = Some(id.into());
        self
    }

    /// Longest time from a request to its answer; 30 s.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Longest time to connect; 5 s.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = Some(timeout);
        self
    }

    /// What is sent again, how often. With [`ResendPolicy::never`] the server makes the ids of jobs.
    pub fn resend(mut self, policy: ResendPolicy) -> Self {
        self.resend = Some(policy);
        self
    }

    /// PEM file with certificates to trust beside those of the system.
    pub fn tls_ca_file(mut self, path: impl Into<std::path::PathBuf>) -> Self {
        self.tls_ca_file = Some(path.into());
        self
    }

    /// PEM files of the client's certificate chain and private key.
    pub fn tls_client_cert(mut self, chain: impl Into<std::path::PathBuf>, key: impl Into<std::path::PathBuf>) -> Self {
        self.tls_client_cert = Some((chain.into(), key.into()));
        self
    }

    /// Most bytes of one answer; 256 MiB. A longer one is an error of kind
    /// [`TooLarge`](crate::transport::TransportErrorKind::TooLarge).
    pub fn max_response_bytes(mut self, most: usize) -> Self {
        self.max_response_bytes = Some(most);
        self
    }

    /// Whether requests go through the proxy that `HTTP_PROXY`, `HTTPS_PROXY` or `ALL_PROXY` names;
    /// [`Proxy::Environment`]. Those to a loopback address never do. Over plain HTTP a proxy sees the bearer token.
    pub fn proxy(mut self, proxy: Proxy) -> Self {
        self.proxy = Some(proxy);
        self
    }

    /// Encrypts the arguments of jobs with the current one of these keys.
    pub fn encryption(self, keys: impl KeyProvider) -> Self {
        self.codec(Codec::new(keys))
    }

    /// The same with a codec of other settings.
    pub fn codec(mut self, codec: Codec) -> Self {
        self.encryption = Some(codec);
        self
    }

    /// Makes the client.
    ///
    /// # Errors
    /// [`Error::Transport`] when the URL or a setting cannot be used, or the store cannot be opened.
    pub async fn connect(self) -> Result<Client, Error> {
        if let Some(transport) = self.transport {
            return Ok(Client::new(layered(transport, self.encryption, self.tenant.as_deref())?));
        }
        let env = Environment::of_process()?;
        let base = env.connection()?;
        let options = ConnectOptions {
            auth_token: self.auth_token.or(base.auth_token),
            headers: self.headers,
            tenant: self.tenant,
            connect_timeout: self.connect_timeout.unwrap_or(base.connect_timeout),
            timeout: self.timeout.unwrap_or(base.timeout),
            resend: self.resend.unwrap_or(base.resend),
            tls_ca_file: self.tls_ca_file.or(base.tls_ca_file),
            tls_client_cert: self.tls_client_cert.or(base.tls_client_cert),
            encryption: self.encryption.or(base.encryption),
            max_response_bytes: self.max_response_bytes.unwrap_or(base.max_response_bytes),
            proxy: self.proxy.unwrap_or(base.proxy),
        };
        let given = self.url.as_ref().map(SecretUrl::expose).filter(|url| !url.trim().is_empty());
        Ok(Client::new(connect(given.unwrap_or_else(|| env.url()), options).await?))
    }
}

impl std::fmt::Debug for ClientBuilder {
    /// Without token, headers and the password of the URL.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientBuilder").field("url", &self.url).finish_non_exhaustive()
    }
}
