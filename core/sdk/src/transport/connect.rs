//! From a URL to a transport.
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{OfTenant, Transport, TransportError, TransportErrorKind};
use crate::encryption::{Codec, Encrypted};

/// Settings of a connection. What a transport has no use for (headers for an embedded engine) it ignores.
#[derive(Clone)]
#[non_exhaustive]
pub struct ConnectOptions {
    /// Sent as `Authorization: Bearer …`.
    pub auth_token: Option<String>,
    /// Sent with every request.
    pub headers: Vec<(String, String)>,
    /// The tenant whose requests these are: it sees and changes what belongs to it, and its jobs are the tenant's.
    pub tenant: Option<String>,
    /// Longest time to connect.
    pub connect_timeout: Duration,
    /// Longest time from sending a request to its answer; a long poll's wait is added.
    pub timeout: Duration,
    /// What is sent again, how often.
    pub resend: super::ResendPolicy,
    /// PEM file with certificates to trust beside those of the system.
    pub tls_ca_file: Option<std::path::PathBuf>,
    /// PEM files of the client's certificate chain and private key.
    pub tls_client_cert: Option<(std::path::PathBuf, std::path::PathBuf)>,
    /// Encrypts the arguments of jobs, and decrypts them in workers.
    pub encryption: Option<Codec>,
    /// Most bytes of one answer; a longer one ends the connection with [`TransportErrorKind::TooLarge`].
    pub max_response_bytes: usize,
    /// Through which proxy requests go.
    pub proxy: super::Proxy,
}

impl fmt::Debug for ConnectOptions {
    /// Without token, headers and keys: they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ConnectOptions");
        shown.field("tenant", &self.tenant).field("connect_timeout", &self.connect_timeout).field("timeout", &self.timeout);
        shown.field("resend", &self.resend).field("proxy", &self.proxy).finish_non_exhaustive()
    }
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            auth_token: None,
            headers: Vec::new(),
            tenant: None,
            connect_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(30),
            resend: super::ResendPolicy::default(),
            tls_ca_file: None,
            tls_client_cert: None,
            encryption: None,
            max_response_bytes: MAX_RESPONSE_BYTES,
            proxy: super::Proxy::default(),
        }
    }
}

/// 256 MiB: many times the largest batch that a server takes, and less than the memory of a small machine.
const MAX_RESPONSE_BYTES: usize = 256 << 20;

/// The features that decide what can be connected to.
struct Features {
    http: bool,
    embedded: bool,
    postgres: bool,
}

/// Those of this build.
const BUILT: Features =
    Features { http: cfg!(feature = "http"), embedded: cfg!(feature = "embedded"), postgres: cfg!(feature = "postgres") };

impl Features {
    /// The feature that a URL needs and that is not there.
    fn lacking(&self, scheme: &str) -> Option<&'static str> {
        match scheme {
            "http" | "https" if !self.http => Some("http"),
            "sqlite" | "memory" | "postgres" | "postgresql" if !self.embedded => Some("embedded"),
            "postgres" | "postgresql" if !self.postgres => Some("postgres"),
            _ => None,
        }
    }
}

/// How a build gets the feature.
fn without(feature: &str) -> String {
    format!(
        "this build was made without the Cargo feature `{feature}`. `make python` builds the Python package with it (the first build of \
         `make demo` leaves it out), a program in Rust names it: cargo add ojs --features {feature}"
    )
}

/// What this build connects to.
const SCHEMES: &str = if cfg!(feature = "embedded") {
    "http://, https://, sqlite:FILE, postgres://HOST/DATABASE or memory:"
} else {
    "http:// or https:// (sqlite:FILE, postgres:// and memory: need the feature `embedded`)"
};

/// Makes the transport that fits the URL: `http://`, `https://`, and with the feature `embedded` `sqlite:jobs.db`,
/// `postgres://user@host/database`, `memory:` (a fresh engine), `memory:name` (shared by all who use the name).
///
/// # Errors
/// [`TransportErrorKind::Config`] for a URL or setting that cannot be used, [`TransportErrorKind::Open`] when the store cannot be opened.
pub async fn connect(url: &str, mut options: ConnectOptions) -> Result<Arc<dyn Transport>, TransportError> {
    let (codec, tenant) = (options.encryption.take(), options.tenant.take());
    layered(open(url, options).await?, codec, tenant.as_deref())
}

/// The transport with encryption and a tenant around it, where they are wanted.
///
/// # Errors
/// [`TransportErrorKind::Config`] for what is no id of a tenant.
pub(crate) fn layered(
    transport: Arc<dyn Transport>,
    codec: Option<Codec>,
    tenant: Option<&str>,
) -> Result<Arc<dyn Transport>, TransportError> {
    let transport: Arc<dyn Transport> = match codec {
        Some(codec) => Arc::new(Encrypted::new(transport, codec)),
        None => transport,
    };
    match tenant {
        Some(tenant) => OfTenant::over(transport, tenant),
        None => Ok(transport),
    }
}

/// Whether [`connect`] can do something with the URL, by its scheme. Nothing is opened: a program that checks its URL
/// where it makes a client learns of a wrong one there, and not with its first job.
///
/// ```
/// use ojs::transport::check_url;
/// assert!(check_url("sqlite:jobs.db").is_ok());
/// assert!(check_url("jobs.db").unwrap_err().to_string().contains("write sqlite:jobs.db"));
/// ```
///
/// # Errors
/// [`TransportErrorKind::Config`], with what to write instead.
pub fn check_url(url: &str) -> Result<(), TransportError> {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    if matches!(scheme, "http" | "https" | "sqlite" | "postgres" | "postgresql" | "memory") && BUILT.lacking(scheme).is_none() {
        return Ok(());
    }
    let shown = ojs_model::redact::url(url);
    let what = BUILT.lacking(scheme).map_or_else(|| meant(url), without);
    Err(TransportError::new(TransportErrorKind::Config, format!("cannot connect to '{shown}': {what}")))
}

/// What to write instead of a URL without a scheme that is known.
fn meant(url: &str) -> String {
    let is_host = |(host, port): (&str, &str)| {
        let port = port.split('/').next().unwrap_or_default();
        !host.is_empty() && !host.contains('/') && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_file =
        !url.contains(':') && (url.contains(['/', '\\']) || [".db", ".sqlite", ".sqlite3"].iter().any(|end| url.ends_with(end)));
    if is_file {
        format!("write sqlite:{url} for a file of SQLite; use {SCHEMES}")
    } else if url.split_once(':').is_some_and(is_host) {
        format!("write http://{url} for a server; use {SCHEMES}")
    } else {
        format!("use {SCHEMES}")
    }
}

#[cfg_attr(not(feature = "http"), expect(unused_variables, reason = "settings of the connection to a server"))]
async fn open(url: &str, options: ConnectOptions) -> Result<Arc<dyn Transport>, TransportError> {
    check_url(url)?;
    match url.split_once(':').map_or("", |(scheme, _)| scheme) {
        #[cfg(feature = "http")]
        "http" | "https" => Ok(Arc::new(super::Http::new(url, options)?)),
        #[cfg(feature = "embedded")]
        "sqlite" | "postgres" | "postgresql" | "memory" => Ok(Arc::new(super::Embedded::open(url).await?)),
        _ => Err(TransportError::new(TransportErrorKind::Config, format!("use {SCHEMES}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_without_a_scheme_is_refused_with_what_was_meant() {
        for url in ["http://a:1", "https://a", "sqlite:jobs.db", "sqlite:///var/jobs.db", "memory:", "memory:x", "postgres://a/b"]
        {
            check_url(url).unwrap();
        }
        let refusal = |url: &str| check_url(url).unwrap_err().to_string();
        for (url, hint) in [
            ("jobs.db", "write sqlite:jobs.db for a file of SQLite; use http://"),
            ("./data/jobs", "write sqlite:./data/jobs"),
            ("/var/lib/jobs.sqlite3", "write sqlite:/var/lib/jobs.sqlite3"),
            ("localhost:8080", "write http://localhost:8080 for a server"),
            ("jobs.internal:8080/prefix", "write http://jobs.internal:8080/prefix"),
        ] {
            assert!(refusal(url).contains(hint), "{}", refusal(url));
        }
        assert!(refusal("oracle:jobs").ends_with(&format!("use {SCHEMES}")) && !refusal("oracle:jobs").contains("write"));
        assert!(!refusal("ftp://ada:hunter2@host/x").contains("hunter2"), "a password is not shown");
    }

    #[test]
    fn a_build_without_a_feature_names_it_and_how_to_build_with_it() {
        let first_build = Features { http: false, embedded: true, postgres: false };
        assert_eq!(first_build.lacking("https"), Some("http"));
        assert_eq!(first_build.lacking("postgresql"), Some("postgres"));
        assert_eq!((first_build.lacking("sqlite"), first_build.lacking("oracle")), (None, None));
        assert_eq!(Features { http: true, embedded: false, postgres: true }.lacking("memory"), Some("embedded"));
        let message = without("postgres");
        assert!(message.contains("feature `postgres`") && message.contains("`make python`"), "{message}");
    }
}
