//! What all checks share: the server, the store, and lists that several of them look at, fetched once.
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use ojs::transport::METRICS_PATH;
use ojs_engine::StoreUrl;
use ojs_model::Timestamp;
use ojs_model::redact::SecretUrl;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::failures;
use super::finding::Finding;
use crate::failure::Failure;
use crate::list::{Entry, Paging, Source};
use crate::output::text;
use crate::remote::Remote;
pub use crate::when::span;

/// Most queues that are looked at.
const QUEUES: usize = 1_000;
/// Most jobs of a state that are looked at.
const JOBS: usize = 100;

/// What the checks look at.
pub struct Context {
    /// The server, or the store opened in this process; none when neither answers.
    pub remote: Option<Remote>,
    /// The address of the server; none when the store was opened instead.
    pub url: Option<String>,
    /// The finding about a server that did not answer, or answered with a failure.
    pub unanswered: Option<Finding>,
    /// Whether the requests carry a key.
    pub has_token: bool,
    /// The store, to be looked at from outside.
    pub store: Option<StoreUrl>,
    /// The file of keys.
    pub keys: Option<PathBuf>,
    /// The database with the outbox, and the table.
    pub outbox: Option<(SecretUrl, String)>,
    /// Whether all rows are compared with each other.
    pub audited: bool,
    queues: OnceCell<Vec<Entry>>,
    workers: OnceCell<Vec<Entry>>,
    available: OnceCell<Vec<Entry>>,
    active: OnceCell<Vec<Entry>>,
    discarded: OnceCell<Vec<Entry>>,
    config: OnceCell<Value>,
    metrics: OnceCell<Samples>,
}

/// The samples of `/metrics`, by name and labels as they are printed.
pub type Samples = BTreeMap<String, f64>;

impl Context {
    /// Nothing fetched yet.
    pub fn new(remote: Option<Remote>, url: Option<String>, has_token: bool) -> Self {
        Self {
            remote,
            url,
            unanswered: None,
            has_token,
            store: None,
            keys: None,
            outbox: None,
            audited: false,
            queues: OnceCell::new(),
            workers: OnceCell::new(),
            available: OnceCell::new(),
            active: OnceCell::new(),
            discarded: OnceCell::new(),
            config: OnceCell::new(),
            metrics: OnceCell::new(),
        }
    }

    /// The same, with the finding about a server that did not answer.
    pub fn unanswered(self, finding: Finding) -> Self {
        Self { unanswered: Some(finding), ..self }
    }

    /// The server.
    ///
    /// # Errors
    /// When there is none: such checks are not run.
    pub fn remote(&self) -> Result<&Remote, Failure> {
        self.remote.as_ref().ok_or_else(|| Failure::setting("no server answers"))
    }

    /// `GET path`.
    ///
    /// # Errors
    /// As [`Remote::call`].
    pub async fn get(&self, path: impl Into<String>) -> Result<Value, Failure> {
        Ok(self.remote()?.get(path).await?.value)
    }

    /// All queues, with their counts and their pace.
    ///
    /// # Errors
    /// As [`Remote::call`].
    pub async fn queues(&self) -> Result<&[Entry], Failure> {
        let fetch = || async { paged("/admin/queues").first(self.remote()?, QUEUES).await };
        self.queues.get_or_try_init(fetch).await.map(Vec::as_slice)
    }

    /// All workers that are known.
    ///
    /// # Errors
    /// As [`Remote::call`].
    pub async fn workers(&self) -> Result<&[Entry], Failure> {
        let fetch = || async { paged("/admin/workers").all(self.remote()?).await };
        self.workers.get_or_try_init(fetch).await.map(Vec::as_slice)
    }

    /// Available jobs, those that were accepted first at the front.
    ///
    /// # Errors
    /// As [`Remote::call`].
    pub async fn available(&self) -> Result<&[Entry], Failure> {
        let fetch = || async { paged("/admin/jobs?state=available&order=asc").first(self.remote()?, JOBS).await };
        self.available.get_or_try_init(fetch).await.map(Vec::as_slice)
    }

    /// Active jobs, those that were accepted first at the front.
    ///
    /// # Errors
    /// As [`Remote::call`].
    pub async fn active(&self) -> Result<&[Entry], Failure> {
        let fetch = || async { paged("/admin/jobs?state=active&order=asc").first(self.remote()?, JOBS).await };
        self.active.get_or_try_init(fetch).await.map(Vec::as_slice)
    }

    /// Jobs that were discarded lately.
    ///
    /// # Errors
    /// As [`Remote::call`].
    pub async fn discarded(&self) -> Result<&[Entry], Failure> {
        let fetch = || async { failures::discarded(self.remote()?).await };
        self.discarded.get_or_try_init(fetch).await.map(Vec::as_slice)
    }

    /// The settings that the server runs with.
    ///
    /// # Errors
    /// As [`Remote::call`].
    pub async fn config(&self) -> Result<&Value, Failure> {
        self.config.get_or_try_init(|| self.get("/admin/system/config")).await
    }

    /// The figures of `/metrics`.
    ///
    /// # Errors
    /// As [`Remote::call`].
    pub async fn metrics(&self) -> Result<&Samples, Failure> {
        self.metrics.get_or_try_init(|| async { Ok(samples(&self.remote()?.text(METRICS_PATH).await?)) }).await
    }
}

/// A list that is fetched page by page.
pub fn paged(path: &str) -> Source {
    Source { path: path.to_owned(), members: &["items"], paging: Paging::Numbered }
}

/// The workers that are alive and take jobs.
pub fn live(workers: &[Entry]) -> Vec<&Value> {
    workers.iter().map(|entry| &entry.value).filter(|worker| text(worker, "/state") == "running").collect()
}

/// The samples of the text format of Prometheus.
fn samples(text: &str) -> Samples {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.rsplit_once(' ').and_then(|(name, value)| Some((name.to_owned(), value.parse().ok()?))))
        .collect()
}

/// Now, in milliseconds.
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// How long ago a member of an answer was, in milliseconds; none when it is absent.
pub fn age_ms(value: &Value, path: &str) -> Option<i64> {
    let at = Timestamp::parse(&text(value, path)).ok()?;
    Some(now_ms().saturating_sub(at.as_millis()))
}
