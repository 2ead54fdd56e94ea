//! What an engine is opened with.
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use ojs_model::redact::{self, SecretUrl};

use crate::kernel::clock::{Clock, SystemClock};
use crate::kernel::event::EVENT_SOURCE;
use crate::kernel::retention::Retention;
use crate::outgoing::options::OutgoingOptions;
use crate::store::seam::Store;

/// Where jobs are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// `memory:`: gone when the engine closes.
    Memory,
    /// `sqlite:PATH[?durability=relaxed]`: one file, shared by any number of local processes.
    Sqlite {
        /// The database file; created when missing.
        path: PathBuf,
        /// When a write is confirmed.
        durability: Durability,
    },
    /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, shared by any number of nodes. Parameters of ours: `pooler=auto|none|transaction`,
    /// `direct=URL` (for wake-ups when a pooler stands in front; last), `sslmode=verify-full`, `sslrootcert=FILE`.
    Postgres {
        /// The whole URL.
        url: SecretUrl,
        /// A connection past the pooler.
        direct: Option<SecretUrl>,
    },
}

/// When a write is confirmed to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// After fsync: survives a power cut.
    #[default]
    Full,
    /// After the write reached the operating system: survives `kill -9` of the process, not a power cut.
    Relaxed,
}

/// As it may be printed: without the password.
impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory:"),
            Self::Sqlite { path, durability: Durability::Full } => write!(f, "sqlite:{}", path.display()),
            Self::Sqlite { path, durability: Durability::Relaxed } => write!(f, "sqlite:{}?durability=relaxed", path.display()),
            Self::Postgres { url, .. } => url.fmt(f),
        }
    }
}

/// The text is not the URL of a store. What is shown of it has no password in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a store: use memory:, sqlite:PATH, sqlite:PATH?durability=relaxed or postgres://USER@HOST/DATABASE")]
pub struct InvalidStoreUrl(String);

impl FromStr for StoreUrl {
    type Err = InvalidStoreUrl;

    /// ```
    /// use ojs_engine::StoreUrl;
    /// assert!("sqlite:jobs.db".parse::<StoreUrl>().is_ok());
    /// assert!("oracle:jobs".parse::<StoreUrl>().is_err());
    /// let store: StoreUrl = "postgres://ojs:hunter2@db/jobs".parse()?;
    /// assert_eq!(store.to_string(), "postgres://ojs:***@db/jobs");
    /// # Ok::<(), ojs_engine::InvalidStoreUrl>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, InvalidStoreUrl> {
        let invalid = || InvalidStoreUrl(redact::url(text));
        if text == "memory:" {
            return Ok(Self::Memory);
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            let (url, direct) = match text.split_once("direct=") {
                Some((url, direct)) => (url.trim_end_matches(['?', '&']), Some(direct.into())),
                None => (text, None),
            };
            return Ok(Self::Postgres { url: url.into(), direct });
        }
        let rest = text.strip_prefix("sqlite:").ok_or_else(invalid)?;
        // `sqlite:///abs/path` and `sqlite://rel/path` are spelt that way by users of other libraries.
        let rest = rest.strip_prefix("//").unwrap_or(rest);
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let durability = match query {
            "" | "durability=full" => Durability::Full,
            "durability=relaxed" => Durability::Relaxed,
            _ => return Err(invalid()),
        };
        if path.is_empty() || path == ":memory:" {
            return Err(invalid());
        }
        Ok(Self::Sqlite { path: PathBuf::from(path), durability })
    }
}

/// What becomes of a job that names no tenant and comes from a caller without one (extensions section 10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingTenant {
    /// It belongs to the tenant `_default`.
    #[default]
    Default,
    /// It is refused with 422.
    Reject,
}

/// Options of the execution history of jobs (extensions section 23).
#[derive(Debug, Clone, Copy)]
pub struct HistoryOptions {
    /// Whether histories are answered.
    pub enabled: bool,
    /// How far back they reach: 30 days.
    pub retention: Duration,
    /// Most events of one job: the newest 1,000.
    pub max_events: usize,
}

impl Default for HistoryOptions {
    fn default() -> Self {
        Self { enabled: true, retention: Duration::from_secs(30 * 86_400), max_events: 1_000 }
    }
}

/// Wraps a store in another one.
pub type Between = Arc<dyn Fn(Arc<dyn Store>) -> Arc<dyn Store> + Send + Sync>;

/// Options of [`Engine::open`](crate::Engine::open). The defaults are the tuned values.
#[derive(Clone)]
pub struct EngineOptions {
    /// Where jobs are kept.
    pub store: StoreUrl,
    /// Adds `POST /ojs/v1/admin/reset` and the test directives of the conformance suite. Never in production.
    pub test_mode: bool,
    /// Silence after which a worker that has sent heartbeats counts as dead: 30 s.
    pub worker_timeout: Duration,
    /// How long terminal jobs are kept.
    pub retention: Retention,
    /// Only active jobs can be checkpointed, and checkpoints go when their jobs end (extensions section 21).
    pub strict_checkpoints: bool,
    /// Options of the execution history of jobs.
    pub history: HistoryOptions,
    /// Where dashboards have encrypted arguments decrypted; the manifest names it (extensions section 9).
    pub codec_server_url: Option<String>,
    /// `source` of events as CloudEvents: the URI of this deployment (extensions section 24).
    pub event_source: Arc<str>,
    /// Requests that the engine sends to addresses of its clients: webhooks.
    pub outgoing: OutgoingOptions,
    /// What becomes of a job that names no tenant and comes from a caller without one.
    pub missing_tenant: MissingTenant,
    /// Source of time.
    pub clock: Arc<dyn Clock>,
    /// What stands between the engine and its store: tests that watch every command.
    #[doc(hidden)]
    pub between: Option<Between>,
}

impl EngineOptions {
    /// Default options for a store.
    #[must_use]
    pub fn new(store: StoreUrl) -> Self {
        Self {
            store,
            test_mode: false,
            worker_timeout: Duration::from_secs(30),
            retention: Retention::default(),
            strict_checkpoints: false,
            history: HistoryOptions::default(),
            codec_server_url: None,
            event_source: EVENT_SOURCE.into(),
            outgoing: OutgoingOptions::default(),
            missing_tenant: MissingTenant::default(),
            clock: Arc::new(SystemClock),
            between: None,
        }
    }
}

impl fmt::Debug for EngineOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineOptions").field("store", &self.store).field("test_mode", &self.test_mode).finish_non_exhaustive()
    }
}
