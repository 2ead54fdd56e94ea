//! Endpoints of push delivery as stores keep them.
use ojs_model::JobId;

use crate::error::Result;
use crate::outgoing::Secret;
use crate::store::record::{Read, RecordTables, Records, Scan, record};

/// Most endpoints that a server keeps.
pub const MAX_ENDPOINTS: usize = 20_000;

record! {
    /// An endpoint. Times are milliseconds since the epoch; 0 is "never". Lists have an entry a line.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct EndpointRow in "push_endpoints" {
        key ("id");
        fixed ("created_at");
        /// On the wire `push_` stands before it.
        pub id: JobId,
        /// Where jobs are sent: `https://…`, or `sqs:https://…` for a queue of Amazon SQS.
        pub endpoint: String,
        /// Patterns of the types of jobs that it takes.
        pub job_types: String,
        /// Patterns of the queues that it takes jobs from.
        pub queues: String,
        /// Rules that change its weight for some jobs, as JSON; empty for none.
        pub routing: String,
        /// What the client says where it runs: `aws`, `gcp`, … Shown, not used.
        pub provider: String,
        /// Whether it is sent jobs.
        pub active: bool,
        /// Most jobs that it holds at a time, on all nodes together.
        pub max_concurrency: i64,
        /// Milliseconds in which it must answer.
        pub timeout_ms: i64,
        /// Its share of jobs that several endpoints take.
        pub weight: i64,
        /// Whether an answer 429 means "later" instead of "never".
        pub retry_429: bool,
        /// Signs requests.
        pub secret: Secret,
        /// Signs them as well, until `previous_until`.
        pub previous_secret: Secret,
        /// When the previous secret ends.
        pub previous_until: i64,
        /// When it was created.
        pub created_at: i64,
        /// When it was last changed by a client.
        pub updated_at: i64,
        /// Deliveries that failed since the latest answer.
        pub failures: i64,
        /// Since when it is sent nothing because of failures.
        pub opened_at: i64,
        /// Until when the one delivery after that is awaited that shows whether it works again.
        pub probe_until: i64,
        /// Until when it has asked for a pause.
        pub resume_at: i64,
        /// Since when it is sent nothing because of an answer that says: wrong address or wrong key.
        pub disabled_at: i64,
        /// When a delivery last failed.
        pub failed_at: i64,
        /// The status of the answer to that delivery; 0 without one.
        pub status: i64,
        /// Why that delivery failed.
        pub reason: String,
    }
}

impl EndpointRow {
    /// The entries of one of its lists.
    pub fn entries(list: &str) -> impl Iterator<Item = &str> {
        list.split('\n').filter(|line| !line.is_empty())
    }

    /// The secrets that sign now, the newest first.
    #[must_use]
    pub fn secrets(&self, now: i64) -> Vec<&str> {
        Secret::valid(&self.secret, &self.previous_secret, self.previous_until, now)
    }

    /// The id of the worker that holds the jobs which are sent to it.
    #[must_use]
    pub fn worker_id(&self) -> String {
        format!("{WORKER}{}", self.id)
    }
}

/// How the ids of workers begin that hold the jobs of endpoints.
const WORKER: &str = "push_worker_";

/// Whether a worker holds the jobs of an endpoint.
pub(crate) fn is_worker_of_endpoint(worker: &str) -> bool {
    worker.strip_prefix(WORKER).is_some_and(|id| id.parse::<JobId>().is_ok())
}

/// Endpoints.
pub trait PushTables: RecordTables {
    /// All endpoints, the oldest first.
    ///
    /// # Errors
    /// A store that cannot be read, as everywhere here.
    fn endpoints(&mut self, skip: usize, limit: usize) -> Result<Vec<EndpointRow>> {
        let scan = Scan { skip, ..Scan::over(EndpointRow::KEY).limit(limit) };
        Records::of(self).scan(&scan)
    }

    /// How many there are.
    ///
    /// # Errors
    /// See [`endpoints`](Self::endpoints).
    fn count_endpoints(&mut self) -> Result<usize> {
        Records::<EndpointRow, _>::of(self).count(&Scan::over(EndpointRow::KEY))
    }

    /// One endpoint. A transaction that writes holds it until its end.
    ///
    /// # Errors
    /// See [`endpoints`](Self::endpoints).
    fn endpoint(&mut self, id: JobId, read: Read) -> Result<Option<EndpointRow>> {
        Records::of(self).find(EndpointRow::KEY, &id, read)
    }

    /// Writes an endpoint, new or known.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn put_endpoint(&mut self, row: &EndpointRow) -> Result<()> {
        Records::of(self).put(row)
    }

    /// Forgets an endpoint.
    ///
    /// # Errors
    /// A store that cannot be written.
    fn forget_endpoint(&mut self, id: JobId) -> Result<()> {
        Records::<EndpointRow, _>::of(self).delete(&id)
    }
}

impl<T: RecordTables + ?Sized> PushTables for T {}
