//! Settings of handlers in functions.
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use ojs_model::redact::SecretUrl;

use super::push::PushHandler;
use super::runs::Runs;
use crate::environment::Environment;
use crate::error::Error;
use crate::transport::{ConnectOptions, TransportError, TransportErrorKind, connect, from_fn, layered};
use crate::webhook::{TOLERANCE_SECONDS, now};
use crate::worker::{Worker, WorkerOptions};

/// The variable with the secrets that no setting gives, with commas between several.
const SECRETS: &str = "OJS_SIGNING_SECRET";
/// How long before the platform's limit a run ends: its outcome is reported in this time.
const SAFETY_MARGIN: Duration = Duration::from_secs(5);

/// Settings of a handler, [`PushHandler`] or [`LambdaHandler`](super::LambdaHandler): code before environment before
/// default.
///
/// | variable | setting |
/// |---|---|
/// | `OJS_URL` | [`ojs_url`](Self::ojs_url) |
/// | `OJS_AUTH_TOKEN` | [`auth_token`](Self::auth_token) |
/// | `OJS_SIGNING_SECRET` | [`signing_secret`](Self::signing_secret) |
/// | `OJS_ENCRYPTION_KEYS` | the keys of encrypted arguments |
#[must_use]
pub struct Builder<H> {
    url: Option<SecretUrl>,
    connection: Option<ConnectOptions>,
    auth_token: Option<String>,
    worker: Option<Worker>,
    settings: Settings,
    handler: PhantomData<fn() -> H>,
}

/// What a handler knows.
pub(super) struct Settings {
    pub(super) secrets: Vec<String>,
    pub(super) unsigned: bool,
    pub(super) tolerance: Duration,
    pub(super) timeout: Option<Duration>,
    pub(super) safety_margin: Duration,
    /// Seconds since the epoch.
    clock: Arc<dyn Fn() -> i64 + Send + Sync>,
}

impl Settings {
    pub(super) fn now(&self) -> i64 {
        (self.clock)()
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("secrets", &self.secrets.len())
            .field("unsigned", &self.unsigned)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl<H> fmt::Debug for Builder<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("url", &self.url).field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl<H> Default for Builder<H> {
    fn default() -> Self {
        let settings = Settings {
            secrets: Vec::new(),
            unsigned: false,
            tolerance: Duration::from_secs(TOLERANCE_SECONDS),
            timeout: None,
            safety_margin: SAFETY_MARGIN,
            clock: Arc::new(now),
        };
        Self { url: None, connection: None, auth_token: None, worker: None, settings, handler: PhantomData }
    }
}

impl<H> Builder<H> {
    /// The server that outcomes of jobs from queues, checkpoints and progress go to. Without it, and without `OJS_URL`,
    /// the platform alone learns what became of a job.
    pub fn ojs_url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(SecretUrl::from(url.into()));
        self
    }

    /// A key of the server with the permissions of a worker.
    pub fn auth_token(mut self, token: impl Into<String>) -> Self {
        self.auth_token = Some(token.into());
        self
    }

    /// Headers, time-outs, TLS and encryption of the connection, in place of what the environment says.
    pub fn connection(mut self, options: ConnectOptions) -> Self {
        self.connection = Some(options);
        self
    }

    /// A worker that has handlers and middleware already, and a server. It is not started.
    pub fn worker(mut self, worker: Worker) -> Self {
        self.worker = Some(worker);
        self
    }

    /// A secret of the push endpoint. While it is being replaced, name both.
    pub fn signing_secret(mut self, secret: impl Into<String>) -> Self {
        self.settings.secrets.push(secret.into());
        self
    }

    /// Trusts every request. It is right only where the platform has checked who calls.
    pub fn unsigned(mut self) -> Self {
        self.settings.unsigned = true;
        self
    }

    /// How long ago a request may have been signed: 300 s without it.
    pub fn tolerance(mut self, tolerance: Duration) -> Self {
        self.settings.tolerance = tolerance;
        self
    }

    /// What the platform allows for a request. Lambda says it itself; without it there is no limit but the job's own.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = Some(timeout);
        self
    }

    /// How long before the platform's limit a run ends with a failure that is tried again: 5 s without it, and never
    /// more than half of the time.
    pub fn safety_margin(mut self, margin: Duration) -> Self {
        self.settings.safety_margin = margin;
        self
    }

    /// Says what time it is, in seconds since the epoch: for tests.
    #[doc(hidden)]
    pub fn clock(mut self, clock: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        self.settings.clock = Arc::new(clock);
        self
    }

    /// Makes the handler. Nothing is sent yet.
    ///
    /// # Errors
    /// [`Error::Validation`] for settings that contradict each other, [`Error::Transport`] when the URL cannot be used.
    pub async fn build(mut self) -> Result<H, Error>
    where
        H: From<PushHandler>,
    {
        let has_secrets = !self.settings.secrets.is_empty();
        if !has_secrets && !self.settings.unsigned {
            let given = std::env::var(SECRETS).unwrap_or_default();
            self.settings.secrets =
                given.split(',').map(|secret| secret.trim().to_owned()).filter(|one| !one.is_empty()).collect();
        }
        if self.settings.unsigned && has_secrets {
            let told = "unsigned checks no signature, and there is a signing secret: leave one of them out";
            return Err(Error::validation("unsigned", told));
        }
        let own = self.url.is_some() || self.connection.is_some() || self.auth_token.is_some();
        let runs = match self.worker {
            Some(_) if own => {
                let told = "the connection belongs to the worker that was given: set it there";
                return Err(Error::validation("worker", told));
            }
            Some(worker) => Runs { worker, has_server: true },
            None => connected(self.url, self.connection, self.auth_token).await?,
        };
        Ok(PushHandler::over(runs, self.settings).into())
    }
}

/// A worker on the connection that settings and environment name.
async fn connected(url: Option<SecretUrl>, options: Option<ConnectOptions>, token: Option<String>) -> Result<Runs, Error> {
    let env = Environment::of_process()?;
    let mut options = options.map_or_else(|| env.connection(), Ok)?;
    if token.is_some() {
        options.auth_token = token;
    }
    let url = url.or_else(|| env.text("url").map(SecretUrl::from));
    let has_server = url.is_some();
    let transport = match url {
        Some(url) => connect(url.expose(), options).await?,
        None => {
            let nowhere = from_fn(|_| async {
                let told = "the function has no server: give it a URL, ojs_url or OJS_URL";
                Err(TransportError::new(TransportErrorKind::Config, told))
            });
            layered(nowhere, options.encryption, None)?
        }
    };
    Ok(Runs { worker: Worker::new(transport, WorkerOptions::default()), has_server })
}
