//! What an operator sets for requests that the engine sends.
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::guard::Allowed;

/// Deliveries that may wait for one subscription of webhooks, unless an operator says otherwise.
pub(crate) const MAX_WAITING: u32 = 100_000;

/// The addresses of a host, when they are known.
pub type Resolving = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Finds the addresses of hosts.
pub trait Names: Send + Sync {
    /// The addresses of a host.
    fn resolve(&self, host: &str) -> Resolving;
}

/// Settings of requests that the engine sends to addresses which clients have chosen.
#[derive(Clone)]
pub struct OutgoingOptions {
    /// Targets that may be connected to although they are not public addresses, also without TLS.
    pub allow: Vec<Allowed>,
    /// Connects to every address, also without TLS. Never in production.
    pub allow_insecure: bool,
    /// The most that a request and its answer may take, redirects included: 30 s.
    pub timeout: Duration,
    /// The most deliveries that wait for one subscription of webhooks: 100,000. Events beyond it are dropped for this
    /// subscription, counted, and logged.
    pub max_waiting: u32,
    /// How requests to services of Amazon are signed.
    pub aws: AwsOptions,
    /// Asked instead of the system: tests that decide what names mean.
    #[doc(hidden)]
    pub names: Option<Arc<dyn Names>>,
}

/// How requests to services of Amazon are signed.
#[derive(Debug, Clone, Default)]
pub struct AwsOptions {
    /// The region of addresses that do not name one.
    pub region: Option<String>,
    /// Signs instead of what AWS's own programs would find: environment, profile, web identity, the metadata of a
    /// container or of a machine.
    pub access_key: Option<AwsAccessKey>,
}

/// Credentials of Amazon. They are not printed.
#[derive(Clone)]
pub struct AwsAccessKey {
    /// The id of the key.
    pub id: String,
    /// The key.
    pub secret: String,
    /// The token of credentials that end.
    pub session_token: Option<String>,
}

impl fmt::Debug for AwsAccessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwsAccessKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Default for OutgoingOptions {
    fn default() -> Self {
        let timeout = Duration::from_secs(30);
        Self {
            allow: Vec::new(),
            allow_insecure: false,
            timeout,
            max_waiting: MAX_WAITING,
            aws: AwsOptions::default(),
            names: None,
        }
    }
}

impl fmt::Debug for OutgoingOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { allow, allow_insecure, timeout, max_waiting, aws, .. } = self;
        f.debug_struct("OutgoingOptions")
            .field("allow", allow)
            .field("allow_insecure", allow_insecure)
            .field("timeout", timeout)
            .field("max_waiting", max_waiting)
            .field("aws", aws)
            .finish_non_exhaustive()
    }
}
